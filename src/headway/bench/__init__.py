"""Measurements of the suite, and their comparison with published ones."""
