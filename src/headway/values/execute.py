"""Execute one instruction: read its operands, compute, write its results.

The two halves are apart because that is how engines work: an instruction reads after it has
started and its results are there when it completes. Whoever executes out of turn calls `begin` and
`commit`; `execute` does both at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, cast

from headway.errors import Diagnostic, HeadwayError, InvalidInput
from headway.values.memory import Contents, Place, inside, not_before, place, read, write
from headway.values.numbers import np
from headway.values.operations import OPERATIONS
from headway.values.program import Iterations, Meaning, Values, View, literal_at

MASK = "mask"
SKIPS = "oob_mode"


class Result(NamedTuple):
    """Elements that wait to be written."""

    at: Place
    value: Any
    mask: Any


def execute(values: Values, name: str, iterations: Iterations, contents: Contents) -> None:
    """Execute the instruction of that name, in the iterations of the loops around it.

    Raise InvalidInput if it leaves its memory, HeadwayError if it is not known what it computes.
    """
    commit(begin(values, name, iterations, contents), contents)


def begin(
    values: Values, name: str, iterations: Iterations, contents: Contents
) -> tuple[Result, ...]:
    """Read the operands of an instruction and compute; nothing is written yet. Raise likewise."""
    meaning = values.meanings[name]
    try:
        return _begin(meaning, iterations, contents)
    except HeadwayError as error:
        first = error.diagnostics[0]
        found = Diagnostic(f"{name}: {first.message}", meaning.at, rule=first.rule, help=first.help)
        raise type(error)(found) from error


def commit(results: Iterable[Result], contents: Contents) -> None:
    """Write what `begin` has computed."""
    for result in results:
        write(contents, result.at, result.value, result.mask)


def unknown(meaning: Meaning) -> str:
    """Return why it is not known what an instruction computes, or ""."""
    if not meaning.operation:
        return meaning.reason or "this operation has no values"
    return "" if meaning.operation in OPERATIONS else f"{meaning.operation} has no values"


def _begin(meaning: Meaning, iterations: Iterations, contents: Contents) -> tuple[Result, ...]:
    reason = unknown(meaning)
    if reason:
        raise HeadwayError(Diagnostic(reason, help="the operations with values are in docs/nki.md"))
    try:
        arguments = {n: literal_at(x, iterations) for n, x in meaning.literals.items()}
    except IndexError:
        raise InvalidInput(
            Diagnostic(
                "a number of this call is known only for the iterations that were traced",
                help="trace with larger arguments",
            )
        ) from None
    mask = arguments.pop(MASK, None)
    is_masked = mask is not None
    arguments |= _read(meaning, iterations, contents, is_masked)
    numbers = {role: arguments.pop(role) for role in list(arguments) if "." in role}
    settings = dict(meaning.settings)
    skips = settings.pop(SKIPS, "") == "skip"
    if skips:
        mask = _there(meaning, iterations, numbers, contents)
    with np.errstate(all="ignore"):
        found = OPERATIONS[meaning.operation](**arguments, **settings)
    written = _by_role(found)
    mask = written.get(MASK, mask)
    places = {role: place(view, iterations, numbers) for role, view in meaning.writes.items()}
    return tuple(
        Result(
            inside(contents, at) if skips else not_before(at) if is_masked else at,
            written[role],
            written.get(f"{role}.{MASK}", mask),
        )
        for role, at in places.items()
    )


def _there(
    meaning: Meaning, iterations: Iterations, numbers: dict[str, Any], contents: Contents
) -> Any:
    """Return which elements of the source are in its memory."""
    at = place(meaning.reads["src"], iterations, numbers)
    return inside(contents, at).table >= 0


def _by_role(found: Any) -> dict[str, Any]:
    return cast(dict[str, Any], found) if isinstance(found, dict) else {"dst": found}


def _read(
    meaning: Meaning, iterations: Iterations, contents: Contents, is_masked: bool
) -> dict[str, Any]:
    """Read the operands that say where others lie first; their roles have a dot."""
    found: dict[str, Any] = {}
    views: list[tuple[str, View]] = sorted(meaning.reads.items(), key=lambda r: "." not in r[0])
    skips = meaning.settings.get(SKIPS) == "skip"
    for role, view in views:
        at = place(view, iterations, found)
        at = inside(contents, at) if skips else not_before(at) if is_masked else at
        found[role] = read(contents, at)
    return found
