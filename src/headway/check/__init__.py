"""The judge of synchronized programs. It never imports what it judges."""

from headway.check.judge import check
from headway.check.verdict import Finding, Verdict

__all__ = ["Finding", "Verdict", "check"]
