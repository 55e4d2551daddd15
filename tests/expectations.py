"""What the comments of the programs in tests/data say: for each case its inputs and, as

    expect c: A 1 | A 1, B 2       the first instance of c requires A >= 1, the second also B >= 2
    finding early c[1] A threshold 0 required 1          what the judge says of a wrong variant

An instruction without an `expect` requires nothing; a case without a `finding` is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from headway.cli.inputs import parse_inputs, resolve
from headway.ir.expr import Inputs
from headway.ir.program import Program

Positions = dict[str, int]


@dataclass
class Case:
    """Inputs, and what is expected with them."""

    inputs: Inputs
    expected: dict[str, list[Positions]] = field(default_factory=dict)
    findings: list[tuple[str, str, str, int, int]] = field(default_factory=list)


def cases(text: str, program: Program) -> list[Case]:
    found: list[Case] = []
    for line in text.splitlines():
        match line.split():
            case ["//", "case", *inputs]:
                found.append(Case(resolve(program, parse_inputs(inputs))))
            case ["//", "expect", name, *_]:
                entries = line.partition(":")[2].split("|")
                found[-1].expected[name.rstrip(":")] = [positions(entry) for entry in entries]
            case ["//", "finding", kind, instance, q, "threshold", threshold, "required", needed]:
                found[-1].findings.append((kind, instance, q, int(threshold), int(needed)))
            case _:
                pass
    return found


def positions(entry: str) -> Positions:
    terms = () if entry.strip() == "-" else entry.split(",")
    return {q: int(position) for q, position in (term.split() for term in terms)}
