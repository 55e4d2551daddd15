"""The sequential program: its nodes, its text, its rules, and a builder."""

from headway.ir.builder import Builder
from headway.ir.lexer import decode
from headway.ir.printer import to_text
from headway.ir.text import parse
from headway.ir.values import Value, maximum, minimum
from headway.ir.verify import verify

__all__ = ["Builder", "Value", "decode", "maximum", "minimum", "parse", "to_text", "verify"]
