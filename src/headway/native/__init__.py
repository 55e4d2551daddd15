"""Run a binary as a C program with real threads: the check that no model takes part in."""

from headway.native.build import SANITIZERS
from headway.native.native import Outcome, reference, run, run_all, to_c

__all__ = ["SANITIZERS", "Outcome", "reference", "run", "run_all", "to_c"]
