"""A proof as plain data: facts at loop heads, and a rule for every dependence and every wait.

It is written by the prover and read by `headway.prove.verify`, which believes none of it: a fact
that does not hold, or a rule that does not apply, makes it refuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

from headway.errors import Diagnostic, InvalidInput
from headway.ir.expr import Binary, Expr, Iteration, leaves
from headway.ir.program import Access, If, Instr, Program
from headway.ir.walk import control, walk
from headway.prove.cells import Cells, Marks
from headway.prove.facts import Facts, Register
from headway.prove.forms import Form, form

FORMAT = "headway certificate 1"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Certificate:
    """See the module. `rows` says with which buffer the slots of each row of registers turn."""

    program: str
    rows: dict[str, str]
    marks: list[str]
    heads: dict[str, Json]
    unrolled: list[str]
    dependences: list[dict[str, str]]
    waits: list[dict[str, str]]

    def to_json(self) -> Json:
        """Return it as one JSON object."""
        return {
            "format": FORMAT,
            "program": self.program,
            "rows": self.rows,
            "marks": self.marks,
            "heads": self.heads,
            "unrolled": self.unrolled,
            "dependences": self.dependences,
            "waits": self.waits,
        }


def from_json(data: object) -> Certificate:
    """Read a certificate. Raise InvalidInput if the text is not one."""
    if not isinstance(data, dict):
        raise _malformed("it is no object")
    fields = cast("Json", data)
    if fields.get("format") != FORMAT:
        raise _malformed(f"its format is {fields.get('format')!r} and not {FORMAT!r}")
    names = ("program", "rows", "marks", "heads", "unrolled", "dependences", "waits")
    types = (str, dict, list, dict, list, list, list)
    for name, kind in zip(names, types, strict=True):
        if not isinstance(fields.get(name), kind):
            raise _malformed(f"{name!r} is missing")
    return Certificate(*(fields[name] for name in names))


def marks_text(cells: Cells) -> list[str]:
    """Return what the bits of marks stand for, block by block."""
    return [
        f"{first}: {b.kind} {b.counter} {b.buffer}.{b.atom}, {cells.slots[b.buffer]} slots"
        for b, first in cells.first.items()
    ]


def to_ranges(marks: Marks) -> str:
    """Return the bits of a number, such as `0-3,7`."""
    parts: list[str] = []
    bit = 0
    while marks >> bit:
        rest = marks >> bit
        bit += (rest & -rest).bit_length() - 1
        rest = ~(marks >> bit)
        length = (rest & -rest).bit_length() - 1
        parts.append(str(bit) if length == 1 else f"{bit}-{bit + length - 1}")
        bit += length
    return ",".join(parts)


def of_ranges(text: str) -> Marks:
    """Return the number with these bits. Raise ValueError."""
    found = 0
    for part in text.split(",") if text else ():
        low, _, high = part.partition("-")
        start, end = int(low), int(high or low) + 1
        if not 0 <= start < end <= 10_000_000:
            raise ValueError(part)
        found |= (1 << end) - (1 << start)
    return found


def facts_json(facts: Facts) -> Json:
    """Return facts as plain data."""
    return {
        "known": {e: to_ranges(marks) for e, marks in facts.known.items()},
        "asked": {e: to_ranges(marks) for e, marks in facts.asked.items()},
        "ages": {
            q: [[age, to_ranges(marks)] for age, marks in ages] for q, ages in facts.ages.items()
        },
        "fixed": [[*key, to_ranges(marks)] for key, marks in sorted(facts.fixed.items())],
        "told": [[*r, to_ranges(marks)] for r, marks in sorted(facts.told.items())],
        "below": [[*r, n] for r, n in sorted(facts.below.items())],
        "equal": [[*r, *_form_json(f)] for r, f in sorted(facts.equal.items(), key=_by_register)],
        "frames": {buffer: _form_json(Form(terms))[0] for buffer, terms in facts.frames.items()},
    }


def facts_of(data: object, cells: Cells) -> Facts:
    """Return facts from plain data. Raise InvalidInput if they are not of these cells."""
    atoms = {str(atom): atom for atom in _atoms(cells.sync.program)}
    try:
        d = cast("Json", data)
        known = {str(e): of_ranges(text) for e, text in d["known"].items()}
        return Facts(
            cells,
            known,
            {e: of_ranges(d["asked"][e]) for e in known},
            {q: _ages(ages) for q, ages in d["ages"].items()},
            {(q, int(n)): of_ranges(text) for q, n, text in d["fixed"]},
            {Register(*r): _form(terms, n, atoms) for *r, terms, n in d["equal"]},
            {Register(*r): int(n) for *r, n in d["below"]},
            {Register(*r): of_ranges(text) for *r, text in d["told"]},
            {buffer: _form(terms, 0, atoms).terms for buffer, terms in d["frames"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _malformed(f"the facts of a loop are not readable: {error}") from None


def _ages(data: list[tuple[int, str]]) -> list[tuple[int, Marks]]:
    found = [(int(age), of_ranges(text)) for age, text in data]
    starts = [age for age, _ in found]
    if starts[:1] != [0] or any(a >= b for a, b in pairwise(starts)):
        raise ValueError("ages are not in order")
    return found


def _by_register(item: tuple[Register, Form]) -> Register:
    return item[0]


def _form_json(f: Form) -> tuple[dict[str, int], int]:
    return {str(atom): factor for atom, factor in f.terms}, f.number


def _form(terms: dict[str, int], number: int, atoms: dict[str, Expr]) -> Form:
    return form({atoms[text]: int(n) for text, n in terms.items()}, int(number))


def _atoms(program: Program) -> Iterator[Expr]:
    """Yield every expression in a program, and every part of one."""
    for node in walk(program.body):
        if isinstance(node, Instr):
            accesses: Iterable[Access] = (*node.reads, *node.writes)
        else:
            yield from _parts(control(node))
            if not isinstance(node, If):
                yield Iteration(node.iteration)
            accesses = node.control.reads if node.control else ()
        for access in accesses:
            yield from _parts(access.slot)


def _parts(expr: Expr) -> Iterator[Expr]:
    yield expr
    if isinstance(expr, Binary):
        yield from _parts(expr.left)
        yield from _parts(expr.right)
    yield from leaves(expr)


def _malformed(why: str) -> InvalidInput:
    return InvalidInput(
        Diagnostic(
            f"this is not a certificate: {why}",
            help="headway sync PROGRAM -o SYNCED --certificate FILE",
        )
    )
