"""A strategy, a target, a pass and a front end: one file each, found by entry points."""
