"""The compiled simulator: lowers a program to arrays and runs the hot loop over them."""

from __future__ import annotations

from headway.code.loops import Loop
from headway.code.rows import STILL, TOO_LARGE, TOO_LONG, WIDTH, TooLarge
from headway.ir.expr import Inputs
from headway.sim import code as op
from headway.sim import problems
from headway.sim import records as rec
from headway.sim.code import Code
from headway.sim.layout import Arrays, arrays, tracks, with_room
from headway.sim.lower import lower
from headway.sim.model import Model
from headway.sim.timeline import PS, EngineTime, Timeline
from headway.sync.program import SyncProgram

loop = Loop("headway.sim.kernel", "run")


def run(sync: SyncProgram, model: Model, inputs: Inputs, limit: int, target: str) -> Timeline:
    """Simulate verified engine programs.

    Raise as `headway.sim.simulate` does, and TooLarge if a value does not fit.
    """
    code = lower(sync, model, inputs)
    engines = tuple(engine.engine for engine in sync.engines)
    a = arrays(code, model, limit)
    while (reason := loop(a.m, a.times, a.deep)) == rec.FULL:
        a = with_room(a)
    if reason != STILL:
        raise _stopped(a, code, reason, limit)
    if any(a.m[engine[rec.PC]] != op.END for engine in a.engines):
        raise _deadlock(a, code, model, engines)
    return _timeline(a, code, model, sync, target)


def _stopped(a: Arrays, code: Code, reason: int, limit: int) -> Exception:
    row = _row(code, int(a.m[a.m[rec.STOPPED] + rec.PC]))
    if reason == TOO_LARGE:
        return TooLarge()
    if reason == TOO_LONG:
        return problems.over_limit(limit, code.loops[row])
    return code.fails[row](int(a.m[rec.VALUE]))


def _row(code: Code, address: int) -> int:
    return (address - len(code.memory)) // WIDTH


def _deadlock(a: Arrays, code: Code, model: Model, engines: tuple[str, ...]) -> Exception:
    stuck: list[problems.Stuck] = []
    ended: list[str] = []
    for engine, record in zip(engines, a.engines, strict=True):
        address = int(record[rec.PC])
        operation, source, base, offset = (int(x) for x in a.m[address : address + 4])
        at = code.places.get(_row(code, address))
        if operation == op.END:
            ended.append(engine)
        elif operation == op.MEET:
            stuck.append(problems.Stuck(engine, "", 0, 0, at))
        else:
            number = (source - rec.HEADER) // rec.COUNTER_WIDTH
            counter = a.counters[number]
            reached = int(counter[rec.COUNT] - counter[rec.BASE])
            threshold = int(a.m[base]) + offset
            stuck.append(problems.Stuck(engine, model.name(number), threshold, reached, at))
    return problems.deadlock(stuck, ended)


def _timeline(a: Arrays, code: Code, model: Model, sync: SyncProgram, target: str) -> Timeline:
    ends = (a.counters[:, rec.LAST], a.engines[:, rec.TIME])
    last = max(int(column.max(initial=0)) for column in ends)
    names = [engine.engine for engine in sync.engines]
    return Timeline(
        sync.program.name,
        sync.strategy,
        target,
        last / PS,
        tracks(a, code, model),
        tuple(_engine_time(a, model, n, name) for n, name in enumerate(names)),
        int(a.engines[:, rec.WAITS].sum()),
        int(a.engines[:, rec.BARRIERS].max(initial=0)),
    )


def _engine_time(a: Arrays, model: Model, number: int, name: str) -> EngineTime:
    record = a.engines[number]
    return EngineTime(
        name,
        int(a.counters[model.number[name], rec.BUSY]) / PS,
        int(record[rec.WAITING]) / PS,
        int(record[rec.SYNCHRONIZATION]) / PS,
    )
