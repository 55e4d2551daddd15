"""Bind a program to a target: every engine declared, every instruction with a duration.

In     a verified program
Out    the same program; its engines and queues declared, pipelined as the target is, and every
       cost a `Takes`
Cost   linear

A duration that the program states is kept. On a serial counter an instruction occupies it until it
has completed, unless the target says that its instructions overlap and find each other's results in
order. Such an engine is pipelined even so where others could learn from what it does next that an
instruction is over which still runs. What cannot signal its completion is silent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from headway.errors import Diagnostic, UnsupportedByTarget
from headway.ir.names import suggestion
from headway.ir.program import Engine, If, Instr, Loop, Node, Program, Queue, Takes, While, Work
from headway.ir.walk import control_reads, deep_nests, instructions
from headway.targets.target import EngineModel, Operation, Target


def bind(program: Program, target: Target) -> Program:
    """Return `program` bound to `target`.

    Raise UnsupportedByTarget, with every problem found: an engine or an operation that the target
    does not have, an operation on another engine than it runs on, a queue on an engine that cannot
    trigger, too many queues, an instruction without a cost.
    """
    binding = _Binding(program, target)
    with deep_nests():
        body = binding.body(program.body)
    if binding.problems:
        raise UnsupportedByTarget(*binding.problems.values())
    return replace(program, engines=binding.engines, queues=binding.queues, body=body)


class _Binding:
    def __init__(self, program: Program, target: Target) -> None:
        self.problems: dict[object, Diagnostic] = {}
        self._target = target
        self._program = program
        self.engines = tuple(self._engine(engine) for engine in _engines(program))
        self.queues = tuple(self._queue(queue) for queue in _queues(program))
        self._limit_queues()
        serial = replace(program, engines=self.engines, queues=self.queues).serial
        self._one_by_one = serial - {model.name for model in target.engines if model.ordered}

    def body(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(map(self._node, nodes))

    def _node(self, node: Node) -> Node:
        match node:
            case Instr():
                return replace(node, cost=self._takes(node), silent=self._is_silent(node))
            case Loop() | While():
                return replace(node, body=self.body(node.body))
            case If():
                return replace(node, then=self.body(node.then), orelse=self.body(node.orelse))

    def _engine(self, engine: Engine) -> Engine:
        if not self._target.engines:
            return engine
        model = self._target.engine(engine.name)
        if model:
            is_serial = model.ordered and not _is_followed(self._program, engine.name)
            return replace(engine, pipelined=model.pipelined and not is_serial)
        known = [model.name for model in self._target.engines]
        self.problems[engine.name] = Diagnostic(
            f"target {self._target.name!r} has no engine {engine.name!r}",
            engine.at,
            help=f"{_choose(engine.name, known)}; --target generic has any",
        )
        return engine

    def _queue(self, queue: Queue) -> Queue:
        target = self._target
        host = target.engine(queue.host)
        if host and host.trigger is None:
            able = [engine.name for engine in target.engines if engine.trigger is not None]
            self.problems[queue.name] = Diagnostic(
                f"engine {queue.host!r} of target {target.name!r} cannot trigger queue"
                f" {queue.name!r}",
                queue.at,
                help=f"trigger it from one of: {', '.join(able)}",
            )
        elif target.engines:
            return replace(queue, pipelined=target.dma.pipelined)
        return queue

    def _limit_queues(self) -> None:
        limit = self._target.dma.queues
        if len(self.queues) > limit:
            self.problems["queues"] = Diagnostic(
                f"the program has {len(self.queues)} queues and target {self._target.name!r} has"
                f" {limit}",
                self.queues[limit].at,
                help="let transfers of one engine share a queue",
            )

    def _is_silent(self, instr: Instr) -> bool:
        if instr.silent or instr.queue:
            return instr.silent
        if not self._target.updates_per_instruction:
            return True
        engine, work = self._target.engine(instr.engine), instr.cost
        operation = self._operation(instr, work) if isinstance(work, Work) else None
        return any(model is not None and not model.signals for model in (engine, operation))

    def _takes(self, instr: Instr) -> Takes:
        takes = instr.cost if isinstance(instr.cost, Takes) else self._estimate(instr)
        if instr.counter in self._one_by_one and takes.occupancy != takes.latency:
            return Takes(takes.latency, takes.latency)
        return takes

    def _estimate(self, instr: Instr) -> Takes:
        target, work = self._target, instr.cost
        if target.default is not None:
            return Takes(float(target.default), float(target.default))
        if not isinstance(work, Work):
            self.problems[instr.name] = Diagnostic(
                f"instruction {instr.name!r} has no cost; target {target.name!r} has no default",
                instr.at,
                help="write takes(50) for 50 ns, or does(activation, elements=512)",
            )
            return Takes(0, 0)
        return self._transfer(instr, work) if instr.queue else self._compute(instr, work)

    def _transfer(self, instr: Instr, work: Work) -> Takes:
        dma = self._target.dma
        if work.operation not in dma.slowdown:
            return self._unknown(instr, work, list(dma.slowdown))
        payload = work.bytes / dma.bandwidth * dma.slowdown[work.operation]
        return _takes(payload + dma.setup + dma.notify, max(payload, dma.interval))

    def _compute(self, instr: Instr, work: Work) -> Takes:
        operations, engine = self._target.operations, self._target.engine(instr.engine)
        operation = self._operation(instr, work)
        if operation is None:
            return self._unknown(instr, work, [n for n in operations if n.isidentifier()])
        if engine is None:
            return Takes(0, 0)  # reported already
        if engine.name not in operation.engines:
            self._misplaced(instr, work, operation)
        return _duration(operation, engine, work.elements)

    def _operation(self, instr: Instr, work: Work) -> Operation | None:
        names = (f"{work.operation}@{instr.engine}", f"{work.operation}:{work.dtype}")
        found = map(self._target.operations.get, (*names, work.operation))
        return next(filter(None, found), None)

    def _unknown(self, instr: Instr, work: Work, known: list[str]) -> Takes:
        what = "move bytes by" if instr.queue else "compute"
        self.problems[work.operation, instr.queue is None] = Diagnostic(
            f"target {self._target.name!r} cannot {what} {work.operation!r}, which {instr.name!r}"
            " does",
            instr.at,
            help=_choose(work.operation, known),
        )
        return Takes(0, 0)

    def _misplaced(self, instr: Instr, work: Work, operation: Operation) -> None:
        self.problems[instr.name] = Diagnostic(
            f"{instr.name!r} does {work.operation!r} on engine {instr.engine!r} of target"
            f" {self._target.name!r}",
            instr.at,
            help=f"it runs on: {', '.join(operation.engines)}",
        )


def _duration(operation: Operation, engine: EngineModel, elements: int) -> Takes:
    cycles = max(operation.floor, operation.fixed + operation.per_element * elements)
    occupancy = cycles / engine.clock
    drain = engine.drain + operation.drain_per_element * elements / engine.clock
    return _takes(occupancy + drain, occupancy)


def _takes(latency: float, occupancy: float) -> Takes:
    """Round to the resolution of the simulator, 1 ps, so that printed durations are exact."""
    return Takes(round(latency, 3), round(occupancy, 3))


def _engines(program: Program) -> Iterable[Engine]:
    """Return the declared engines, then hosts and engines in the order of their first use."""
    found = {engine.name: engine for engine in program.engines}
    for queue in program.queues:
        found.setdefault(queue.host, Engine(queue.host, at=queue.at))
    for instr in instructions(program.body):
        found.setdefault(instr.engine, Engine(instr.engine, at=instr.at))
    return found.values()


def _queues(program: Program) -> Iterable[Queue]:
    """Return the declared queues, then those that instructions trigger without a declaration."""
    found = {queue.name: queue for queue in program.queues}
    for instr in instructions(program.body):
        if instr.queue:
            found.setdefault(instr.queue, Queue(instr.queue, instr.engine, at=instr.at))
    return found.values()


def _is_followed(program: Program, engine: str) -> bool:
    """Tell whether something may wait for a transfer or a load of an engine (conservative).

    That is so if it hosts a queue, if a control value is written behind a load of it, or if the
    engine itself writes one. Loops that are not inside others are looked at as a whole.
    """
    if any(queue.host == engine for queue in _queues(program)):
        return True
    values = {access.buffer for read in control_reads(program.body) for access in read.reads}
    loaded: set[str] = set()
    for node in program.body:
        loaded |= {access.buffer for read in control_reads((node,)) for access in read.reads}
        for instr in instructions((node,)):
            again = values if instr.engine == engine else loaded
            if any(access.buffer in again for access in instr.writes):
                return True
    return False


def _choose(word: str, known: list[str]) -> str:
    question = suggestion(word, known)
    return f"{question + ' ' if question else ''}known: {', '.join(known)}"
