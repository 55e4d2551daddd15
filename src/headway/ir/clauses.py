"""Read what an instruction triggers, reads, writes and costs."""

from __future__ import annotations

from typing import Any

from headway.ir.expr import Expr
from headway.ir.program import Access, Takes, Work
from headway.ir.reader import Reader

Clause = tuple[str, Any]
"""A field of `Instr` and its value."""

_WORK_NUMBERS = ("elements", "bytes")
_WORK_FIELDS = (*_WORK_NUMBERS, "dtype", "moves")


class ClauseReader(Reader):
    """Reads one clause of an instruction."""

    def clause(self) -> Clause:
        """Read a clause; the next word is one of `CLAUSES`."""
        word = self.words[self.index]
        self.index += 1
        match word:
            case "reads" | "writes":
                return word, self.enclosed(self._access)
            case "triggers":
                return "queue", self._queue()
            case "takes":
                return "cost", self._takes()
            case _:
                return "cost", self._does()

    def _queue(self) -> str:
        self.expect("(")
        queue = self.name("the name of a queue")
        self.expect(")")
        return queue

    def _access(self) -> Access:
        buffer = self.name("the name of a buffer")
        if self.words[self.index] != "[":
            return Access(buffer)
        self.index += 1
        slot = self.expression()
        self.expect("]")
        if self.words[self.index] != "[":
            return Access(buffer, slot)
        self.index += 1
        box = self.listed(self._interval)
        self.expect("]")
        return Access(buffer, slot, box)

    def _interval(self) -> tuple[Expr, Expr]:
        low = self.expression()
        self.expect(":")
        return low, self.expression()

    def _takes(self) -> Takes:
        self.expect("(")
        latency = occupancy = self._duration()
        if self.accept(","):
            occupancy = self._duration()
        self.expect(")")
        return Takes(latency, occupancy)

    def _duration(self) -> float:
        word = self.words[self.index]
        if not "0" <= word < ":":
            self.expected("a duration in ns")
        self.index += 1
        return float(word)

    def _does(self) -> Work:
        self.expect("(")
        operation = self.name("the name of an operation")
        fields: dict[str, str] = {}
        while self.accept(","):
            name = self.words[self.index]
            if name not in _WORK_FIELDS:
                self.expected(" or ".join(_WORK_FIELDS))
            if name in fields:
                self.fail(f"a second {name!r} in one instruction")
            self.index += 1
            self.expect("=")
            read = self.integer if name in _WORK_NUMBERS else self.name
            fields[name] = str(read(f"the value of {name!r}"))
        self.expect(")")
        elements, size = (int(fields.get(name, 0)) for name in _WORK_NUMBERS)
        dtype, moves = fields.get("dtype", "float32"), fields.get("moves", "")
        return Work(operation, elements, size, dtype, moves)
