"""The synchronized program: one program per engine, its text and its rules."""

from headway.sync.printer import to_text
from headway.sync.text import parse_any, parse_sync
from headway.sync.verify import verify_sync

__all__ = ["parse_any", "parse_sync", "to_text", "verify_sync"]
