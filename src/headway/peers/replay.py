"""Make a synchronized program of what another compiler placed, for given inputs.

Loops and ifs are executed: the result is a straight line for every pipe, with each instance as an
instruction of its own, so that `check` and `sim` see what a run would do. Loop control takes no
time in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from headway.errors import Diagnostic, HeadwayError
from headway.ir.expr import Inputs
from headway.ir.program import Access, Instr, Program
from headway.peers import bisheng, hivm
from headway.peers.export import PIPES, addresses, exported
from headway.peers.hivm import (
    ALL,
    Event,
    Module,
    Operation,
    PipeBarrier,
    SetToken,
    TakeToken,
)
from headway.spec import instances
from headway.sync.program import (
    Barrier,
    EngineProgram,
    Exec,
    Flag,
    SetFlag,
    SyncNode,
    SyncProgram,
    TakeFlag,
    Threshold,
    Wait,
    Waits,
)

ENGINES = {pipe: engine for engine, pipe in PIPES.items()}


def printed(program: Program, name: str) -> Module:
    """Return what a pass of that name makes of a program.

    Raise UnsupportedByTarget if it cannot be exported, HeadwayError if the tool fails.
    """
    return hivm.read(bisheng.synchronized(exported(program), name))


def replayed(program: Program, module: Module, inputs: Inputs, name: str) -> SyncProgram:
    """Return the run with these inputs as a synchronized program.

    Raise HeadwayError if what the pass printed does not do what the program does.
    """
    values = {2 + n: inputs[decl.name] for n, decl in enumerate(program.inputs)}
    numbers = {n: value for n, value in values.items() if isinstance(value, int)}
    return imported(program, inputs, list(hivm.replay(module, numbers)), name)


def imported(program: Program, inputs: Inputs, events: list[Event], name: str) -> SyncProgram:
    """Return the synchronized program of a replay. Raise HeadwayError if it does something else."""
    straight = _straight(program, inputs, events)
    bodies: dict[str, list[SyncNode]] = {engine: [] for engine in PIPES}
    issued: Counter[str] = Counter()
    flags: dict[str, Flag] = {}
    instructions = iter(straight.body)
    for event in events:
        match event:
            case Operation(pipe):
                instr = next(instructions)
                assert isinstance(instr, Instr)
                bodies[ENGINES[pipe]].append(Exec(instr.name))
                issued[ENGINES[pipe]] += 1
            case SetToken(source, sink, number) | TakeToken(source, sink, number):
                flag = Flag(f"{source}.{sink}.{number}", ENGINES[source], ENGINES[sink])
                flags[flag.name] = flag
                if isinstance(event, SetToken):
                    bodies[flag.counter].append(SetFlag(flag.name))
                else:
                    bodies[flag.engine].append(TakeFlag(flag.name))
            case PipeBarrier(pipe) if pipe == ALL:
                for body in bodies.values():
                    body.append(Barrier())
                issued.clear()
            case PipeBarrier(pipe):
                engine = ENGINES[pipe]
                if issued[engine]:
                    bodies[engine].append(Waits((Wait(engine, Threshold(offset=issued[engine])),)))
    engines = tuple(EngineProgram(engine, tuple(body)) for engine, body in bodies.items())
    return SyncProgram(straight, engines, name, "generic", tuple(flags.values()))


def _straight(program: Program, inputs: Inputs, events: Iterable[Event]) -> Program:
    """Return the instances in a straight line, once the replay is seen to be of the same ones."""
    place = addresses(program)
    operations = [event for event in events if isinstance(event, Operation)]
    expected = list(instances(program, inputs))
    if len(operations) != len(expected):
        _differs(f"{len(operations)} instructions instead of {len(expected)}")
    body: list[Instr] = []
    for number, (found, instance) in enumerate(zip(operations, expected, strict=True)):
        assert isinstance(instance.node, Instr)
        reads = [place[address] for address in dict.fromkeys(found.reads)]
        writes = [place[address] for address in found.writes]
        wanted = ({cell[:2] for cell in instance.reads}, {cell[:2] for cell in instance.writes})
        if (set(reads), set(writes)) != wanted or ENGINES[found.pipe] != instance.engine:
            _differs(f"instruction {number} is not {instance}")
        body.append(
            replace(
                instance.node,
                name=f"{instance.node.name}.{number}",
                reads=tuple(Access(*slot) for slot in reads),
                writes=tuple(Access(*slot) for slot in writes),
            )
        )
    return replace(program, body=tuple(body), inputs=())


def _differs(how: str) -> None:
    raise HeadwayError(Diagnostic(f"what was printed does something else: {how}"))
