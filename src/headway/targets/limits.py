"""The same target with other limits, for study: fewer registers, narrower semaphores, and so on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from headway.errors import Diagnostic, InvalidInput
from headway.registry import unknown
from headway.targets.figures import Count
from headway.targets.target import Target

MANY = 2**31 - 1
CHOSEN = "chosen for this run"


def limited(target: Target, limits: Mapping[str, int]) -> Target:
    """Return `target` with these limits in place of its own.

    `registers` per engine; `semaphores` in all, of `width` bits, with a sign if `signed` is not 0;
    `waits` that an instruction carries, and `updates`: with 0 of them only no-ops signal what an
    engine has done; `sums` and `thresholds`: whether a wait may compare with
    register + number, and with a register at all. Raise InvalidInput on another name or a value
    that does not fit.
    """
    for name, value in limits.items():
        if name not in LIMITS:
            raise InvalidInput(unknown("limit", name, tuple(LIMITS)))
        change, least = LIMITS[name]
        if value < least:
            raise InvalidInput(Diagnostic(f"limit {name!r} is {value}", rule=f"at least {least}"))
        target = change(target, Count(value, CHOSEN))
    return target


def unlimited(target: Target) -> Target:
    """Return `target` without the limits that can make a program slower than its strategy made it.

    What its instructions and its sequencers take stays the same.
    """
    many = {"registers": MANY, "semaphores": MANY, "width": 64, "thresholds": 1, "updates": 1}
    engines = tuple(replace(engine, signals=True) for engine in target.engines)
    operations = {name: replace(x, signals=True) for name, x in target.operations.items()}
    return limited(replace(target, engines=engines, operations=operations), many)


Change = Callable[[Target, Count], Target]


def _registers(target: Target, value: Count) -> Target:
    return replace(target, registers=value)


def _semaphores(target: Target, value: Count) -> Target:
    return replace(target, semaphores=replace(target.semaphores, count=value))


def _width(target: Target, value: Count) -> Target:
    return replace(target, semaphores=replace(target.semaphores, width=value))


def _signed(target: Target, value: Count) -> Target:
    return replace(target, semaphores=replace(target.semaphores, is_signed=bool(value)))


def _waits(target: Target, value: Count) -> Target:
    return replace(target, waits_per_instruction=value)


def _updates(target: Target, value: Count) -> Target:
    return replace(target, updates_per_instruction=value)


def _sums(target: Target, value: Count) -> Target:
    return replace(target, has_register_sums=bool(value))


def _thresholds(target: Target, value: Count) -> Target:
    return replace(target, has_register_thresholds=bool(value))


LIMITS: dict[str, tuple[Change, int]] = {
    "registers": (_registers, 0),
    "semaphores": (_semaphores, 0),
    "width": (_width, 1),
    "signed": (_signed, 0),
    "waits": (_waits, 0),
    "updates": (_updates, 0),
    "sums": (_sums, 0),
    "thresholds": (_thresholds, 0),
}
"""How each limit is changed, and the least value that it can have."""
