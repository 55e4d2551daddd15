"""A proof as plain data: a joint order, states at loop heads, and a rule for all that is kept.

It is written by the prover and read by `headway.certify.verify`, which believes none of it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, cast

from headway.certify.statement import Gap, Refused, Statement
from headway.certify.verify import Walk
from headway.errors import Diagnostic, InvalidInput
from headway.ir.walk import deep_nests

FORMAT = "headway certificate 3"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Certificate:
    """See the module. `registers` are those that are followed, as positions of a counter."""

    program: str
    registers: list[list[Any]]
    order: list[Any]
    dependences: list[dict[str, str]]
    waits: list[dict[str, str]]

    def to_json(self) -> Json:
        """Return it as one JSON object."""
        return {"format": FORMAT, **asdict(self)}


def from_json(data: object) -> Certificate:
    """Read a certificate. Raise InvalidInput if the text is not one."""
    if not isinstance(data, dict):
        raise _malformed("it is no object")
    fields = cast("Json", data)
    if fields.get("format") != FORMAT:
        raise _malformed(f"its format is {fields.get('format')!r} and not {FORMAT!r}")
    names = ("program", "registers", "order", "dependences", "waits")
    for name, kind in zip(names, (str, list, list, list, list), strict=True):
        if not isinstance(fields.get(name), kind):
            raise _malformed(f"{name!r} is missing")
    return Certificate(*(fields[name] for name in names))


def check(stated: Statement, certificate: Certificate) -> list[Gap]:
    """Return what is wrong with a certificate for a program; nothing if the program is proved.

    Raise InvalidInput if the certificate cannot be read.
    """
    try:
        walk = Walk(
            stated, ((str(e), str(n), int(p), str(q)) for e, n, p, q in certificate.registers)
        )
        with deep_nests():
            walk.run(certificate.order)
    except Refused as hole:
        return [Gap(hole.reason, hole.at)]
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise _malformed(f"it is not readable: {error}") from None
    gaps = list(walk.gaps)
    for kind, listed, real in (
        ("dependence", certificate.dependences, dependences(walk)),
        ("wait", certificate.waits, waits(walk)),
    ):
        if listed != real:
            gaps.append(Gap(f"the certificate lists another rule for some {kind}"))
    return gaps


def dependences(walk: Walk) -> list[dict[str, str]]:
    """Return what keeps each dependence: one rule, or several where that varies."""
    found: list[dict[str, str]] = []
    for (name, engine, access, after), rules in walk.rules.items():
        texts = sorted({rule for rule, _ in rules})
        by = sorted({by for _, by in rules if by})
        where = {"instruction": name, "engine": engine, "access": access, "after": after}
        found.append(where | {"rule": " or ".join(texts), "by": " or ".join(by)})
    return found


def waits(walk: Walk) -> list[dict[str, str]]:
    """Return why no wait stands for ever: each asks for the past, "" if it may not."""
    return [
        {"engine": engine, "instruction": name, "wait": wait, "rule": min(rules)}
        for (engine, name, wait), rules in walk.waits.items()
    ]


def _malformed(why: str) -> InvalidInput:
    return InvalidInput(
        Diagnostic(
            f"this is not a certificate: {why}",
            help="headway sync PROGRAM -o SYNCED --certificate FILE",
        )
    )
