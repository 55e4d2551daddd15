"""Find the barriers of a stream. The timed machine and the judge know a barrier as one step.

drain   PE
drain   Q
meet    s5
clear   s0, 5        # on one engine
meet    s6
"""

from __future__ import annotations

from collections.abc import Iterator

from headway.errors import Diagnostic, InvalidProgram
from headway.ir.program import control_counter
from headway.isa.instructions import BRANCHES, Instruction, Op
from headway.isa.module import Module, Stream, counters

PARTS = frozenset((Op.DRAIN, Op.MEET, Op.CLEAR))


def check_barriers(module: Module) -> None:
    """Raise InvalidProgram unless every drain, meeting and reset is part of a whole barrier.

    A whole one drains all counters of its engine, meets twice, and has no way in but its beginning;
    one engine resets all counters in between.
    """
    hosts = counters(module.program)
    resets = {s.number for s in module.semaphores}
    cleared: list[str] = []
    for stream in module.streams:
        own = {q for q, host in hosts.items() if host == stream.engine}
        own -= {control_counter(stream.engine)}
        if _clears(stream, own, module.meets, resets):
            cleared.append(stream.engine)
    if module.meets and resets and len(cleared) != 1:
        who = ", ".join(cleared) or "nobody"
        raise InvalidProgram(
            Diagnostic(f"semaphores are reset at barriers by: {who}", rule="one engine does that")
        )


def _clears(stream: Stream, own: set[str], meets: tuple[int, ...], resets: set[int]) -> bool:
    """Check the barriers of a stream; tell whether they reset the counters."""
    targets = {i.target for i in stream.instructions if i.op in BRANCHES}
    does_clear: set[bool] = set()
    for at, part in _barriers(stream, meets):
        if targets & set(range(at + 1, at + len(part))) or not _is_whole(part, own, meets, resets):
            raise InvalidProgram(
                Diagnostic(
                    f"{stream.engine}: the barrier at instruction {at} is not whole",
                    rule="drain all counters of the engine, meet, reset on one engine, meet again",
                )
            )
        does_clear.add(any(i.op is Op.CLEAR for i in part))
    if len(does_clear) > 1:
        raise InvalidProgram(f"{stream.engine} resets semaphores at some barriers only")
    return True in does_clear


def _barriers(
    stream: Stream, meets: tuple[int, ...]
) -> Iterator[tuple[int, tuple[Instruction, ...]]]:
    """Yield the runs of parts, with the place of the first; a second meeting ends a run."""
    part: list[Instruction] = []
    for at, instruction in enumerate(stream.instructions):
        if instruction.op in PARTS:
            part.append(instruction)
            if instruction.op is Op.MEET and instruction.row in meets[-1:]:
                yield at + 1 - len(part), tuple(part)
                part = []
        elif part:
            yield at - len(part), tuple(part)
            part = []


def _is_whole(
    part: tuple[Instruction, ...], own: set[str], meets: tuple[int, ...], resets: set[int]
) -> bool:
    drains = [i.name for i in part if i.op is Op.DRAIN]
    met = [i.row for i in part if i.op is Op.MEET]
    middle = [n for i in part if i.op is Op.CLEAR for n in range(i.row, i.row + i.size)]
    order = [i.op for i in part]
    clears = order.count(Op.CLEAR)
    is_sorted = order == [*[Op.DRAIN] * len(drains), Op.MEET, *[Op.CLEAR] * clears, Op.MEET]
    does_reset = not middle or (len(middle) == len(resets) and set(middle) == resets)
    return is_sorted and set(drains) == own and tuple(met) == meets and does_reset
