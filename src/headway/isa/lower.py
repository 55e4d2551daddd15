"""Lower a synchronized program to one flat stream per engine.

In     a verified synchronized program, and the target whose capabilities its instructions have
Out    a module
Keeps  every instance, wait and threshold, and what the timing model counts
Cost   linear

    loop i n { mm waits q >= shadow.q - 1 }     (a wait that cannot add)

         enter  r2, r0, L2
    L1:  sub    r3, r1, 1
         exec   mm(i r2), wait s0 >= r3, post s1
         next   r2, r0, L1
    L2:
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from headway import targets
from headway.errors import Diagnostic, UnsupportedByTarget, counted
from headway.ir.expr import Binary, Expr, Input, Iteration, leaves
from headway.ir.program import control_counter
from headway.ir.walk import deep_nests, instructions
from headway.isa.expressions import MNEMONICS, Code
from headway.isa.instructions import (
    COMPARISONS,
    Around,
    Instruction,
    Op,
    Operand,
    Reg,
    WaitFor,
)
from headway.isa.module import Module, Stream, counters
from headway.isa.semaphores import Assigned, assign_semaphores
from headway.sync.program import (
    Assign,
    Barrier,
    EngineProgram,
    Exec,
    Load,
    RegisterRef,
    SetFlag,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    TakeFlag,
    Wait,
    Waits,
    walk_sync,
)
from headway.targets.target import Target

NUMBERED = 2**16 - 1
"""Registers that the encoding can number."""

OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def lower(sync: SyncProgram, target: Target | None = None) -> Module:
    """Return the module of `sync`, for `target` or the one that it was made for.

    Raise UnsupportedByTarget with everything that does not fit: registers, semaphores, a threshold
    in a register. Raise InvalidProgram on a number of more than 32 bits.
    """
    on = targets.load(sync.target) if target is None else target
    semaphores = assign_semaphores(sync, on)
    with deep_nests():
        streams = [_stream(engine, sync, on, semaphores) for engine in sync.engines]
    most = min(int(on.registers), NUMBERED)
    problems = [_too_many_registers(s, sync, on) for s in streams if s.registers > most]
    if problems:
        raise UnsupportedByTarget(*problems)
    return Module(
        sync.program,
        sync.strategy,
        sync.target,
        tuple(streams),
        semaphores.counting,
        semaphores.tokens,
        semaphores.meets,
    )


def _stream(
    engine: EngineProgram, sync: SyncProgram, target: Target, semaphores: Assigned
) -> Stream:
    """Lower one engine program; inputs stay in registers as far as there are any to spare."""
    uses = _scalar_inputs(engine)
    bare = _Lowering(engine, sync, target, semaphores, ()).run()
    spare = max(0, min(int(target.registers), NUMBERED) - bare.registers)
    pinned = tuple(name for name, _ in uses.most_common(spare))
    return _Lowering(engine, sync, target, semaphores, pinned).run() if pinned else bare


def _scalar_inputs(engine: EngineProgram) -> Counter[str]:
    """Return the inputs that are numbers, by how often the code names them."""
    found = (leaf for expr in _expressions(engine) for leaf in leaves(expr))
    return Counter(x.name for x in found if isinstance(x, Input) and x.index is None)


def _expressions(engine: EngineProgram) -> Iterator[Expr]:
    for node in walk_sync(engine.body):
        match node:
            case Assign():
                yield node.register.index
                yield node.value
            case SyncLoop():
                yield node.trip
            case SyncWhile() | SyncIf():
                yield node.condition
            case Exec() | Load() | Waits():
                registers = (wait.threshold.register for wait in node.waits)
                yield from (register.index for register in registers if register)
            case _:
                pass


class _Lowering:
    def __init__(
        self,
        engine: EngineProgram,
        sync: SyncProgram,
        target: Target,
        semaphores: Assigned,
        pinned: tuple[str, ...],
    ) -> None:
        self._engine = engine
        self._target = target
        self._semaphores = semaphores
        self._pinned = pinned
        self._is_first = engine is sync.engines[0]
        found = tuple(instructions(sync.program.body))
        self._queue = {instr.name: instr.queue for instr in found}
        self._silent = {instr.name for instr in found if instr.silent}
        hosts = counters(sync.program)
        control = control_counter(engine.engine)
        self._own = [q for q, host in hosts.items() if host == engine.engine and q != control]
        self._code = Code(engine.registers, pinned)

    def run(self) -> Stream:
        self._body(self._engine.body)
        self._emit(Op.HALT)
        code = self._code
        return Stream(self._engine.engine, code.most, tuple(code.instructions))

    def _emit(self, op: Op, a: Operand = 0, b: Operand = 0, dest: int = 0, row: int = 0) -> int:
        return self._code.emit(Instruction(op, dest, a, b, row))

    def _body(self, nodes: tuple[SyncNode, ...]) -> None:
        for node in nodes:
            match node:
                case Exec():
                    self._exec(node)
                case Load():
                    self._load(node)
                case Waits():
                    with self._code.scratch():
                        self._waits(node.waits, attached=0)
                case Assign():
                    self._code.assign(node.register, node.value)
                case Barrier():
                    self._barrier()
                case SetFlag() | TakeFlag():
                    self._flag(node)
                case SyncLoop():
                    self._loop(node)
                case SyncWhile():
                    self._while(node)
                case SyncIf():
                    self._if(node)

    def _exec(self, node: Exec) -> None:
        queue = self._queue[node.instr]
        op = Op.EXEC if queue is None else Op.TRIGGER
        code = self._code
        with code.scratch():
            for iteration, number in node.turns:
                register = code.iterations[iteration] = code.take()
                code.emit(Instruction(Op.MOVE, register, number, is_folded=True))
            self._issue(op, node.instr, queue or self._engine.engine, node.waits)
            for iteration, _ in node.turns:
                del code.iterations[iteration]

    def _load(self, node: Load | None) -> None:
        if node:
            self._issue(Op.READ, node.control, control_counter(self._engine.engine), node.waits)

    def _issue(self, op: Op, name: str, counter: str, waits: tuple[Wait, ...]) -> None:
        post = None if name in self._silent else self._semaphores.number.get(counter)
        iterations = tuple(Around(*pair) for pair in self._code.iterations.items())
        with self._code.scratch():
            wait = self._waits(waits, int(self._target.waits_per_instruction))
            self._code.emit(Instruction(op, name=name, iterations=iterations, wait=wait, post=post))

    def _waits(self, waits: tuple[Wait, ...], attached: int) -> WaitFor | None:
        """Emit the waits that stand alone, then those carried; return the last of these."""
        attached = min(attached, len(waits))
        alone = len(waits) - attached
        carried: WaitFor | None = None
        for number, wait in enumerate(waits[attached:] + waits[:attached]):
            carried = self._wait_for(wait)
            if number < alone or number < len(waits) - 1:
                folded = number >= alone
                self._code.emit(Instruction(Op.WAIT, wait=carried, is_folded=folded))
        return carried if attached else None

    def _wait_for(self, wait: Wait) -> WaitFor:
        """Return the operand of a wait, with its threshold computed if a wait cannot do it."""
        number = self._semaphores.number[wait.counter]
        register, offset = wait.threshold.register, wait.threshold.offset
        if register is None:
            return WaitFor(number, None, offset)
        if not self._target.has_register_thresholds:
            raise UnsupportedByTarget(_no_register_threshold(wait, self._target))
        base = self._code.operand(register)
        assert isinstance(base, Reg), "an element of a row of registers is in a register"
        if not offset or self._target.has_register_sums:
            return WaitFor(number, base, offset)
        total = self._code.take()
        function, amount = ("add", offset) if offset > 0 else ("sub", -offset)
        self._code.emit(Instruction(Op.ALU, total, base, amount, function=function))
        return WaitFor(number, Reg(total), 0)

    def _flag(self, node: SetFlag | TakeFlag) -> None:
        number = self._semaphores.number[node.flag]
        if isinstance(node, TakeFlag):
            self._emit(Op.TAKE, row=number)
        else:
            counter = self._semaphores.source[node.flag]
            self._code.emit(Instruction(Op.SET, row=number, name=counter))

    def _barrier(self) -> None:
        """Drain, meet; the first engine resets the counters while nobody can look; meet again."""
        for counter in self._own:
            self._code.emit(Instruction(Op.DRAIN, name=counter))
        first, second = self._semaphores.meets
        self._emit(Op.MEET, row=first)
        if self._is_first:
            for low, size in self._semaphores.ranges:
                self._code.emit(Instruction(Op.CLEAR, row=low, size=size))
        self._emit(Op.MEET, row=second)

    def _loop(self, node: SyncLoop) -> None:
        code = self._code
        self._load(node.load)
        with code.scratch():
            trip = self._trip(node.trip)
            iteration = code.iterations[node.iteration] = code.take()
            enter = self._emit(Op.ENTER, b=trip, dest=iteration)
            if node.first:
                trip = self._from(node.first, iteration, trip)
            head = len(code.instructions)
            self._body(node.body)
            code.emit(Instruction(Op.NEXT, iteration, b=trip, target=head))
            code.land(enter)
            del code.iterations[node.iteration]

    def _from(self, first: int, iteration: int, trip: Operand) -> Operand:
        """Number iterations from `first`; return the number after the last one."""
        code = self._code
        code.emit(Instruction(Op.MOVE, iteration, first, is_folded=True))
        if isinstance(trip, int):
            return trip + first
        end = code.take()
        code.emit(Instruction(Op.ALU, end, trip, first, function="add", is_folded=True))
        return Reg(end)

    def _trip(self, trip: Expr) -> Operand:
        """Compute a trip count once; what the loop may change is copied."""
        is_fixed = isinstance(trip, Input) and trip.index is None and trip.name in self._pinned
        operand = self._code.operand(trip)
        if is_fixed or isinstance(trip, int | Iteration) or not isinstance(trip, RegisterRef):
            return operand
        copy = self._code.take()
        self._code.emit(Instruction(Op.MOVE, copy, operand, is_folded=True))
        return Reg(copy)

    def _while(self, node: SyncWhile) -> None:
        code = self._code
        with code.scratch():
            iteration = code.iterations[node.iteration] = code.take()
            code.emit(Instruction(Op.MOVE, iteration, 0, is_folded=True))
            head = len(code.instructions)
            self._load(node.load)
            leave = self._unless(Op.LEAVE, node.condition)
            self._body(node.body)
            one = Instruction(Op.ALU, iteration, Reg(iteration), 1, function="add", is_folded=True)
            code.emit(one)
            code.emit(Instruction(Op.JUMP, target=head, is_folded=True))
            code.land(leave)
            del code.iterations[node.iteration]

    def _if(self, node: SyncIf) -> None:
        code = self._code
        self._load(node.load)
        test = self._unless(Op.BRANCH, node.condition)
        self._body(node.then)
        if not node.orelse:
            code.land(test)
            return
        end = code.emit(Instruction(Op.JUMP, is_folded=True))
        code.land(test)
        self._body(node.orelse)
        code.land(end)

    def _unless(self, op: Op, condition: Expr) -> int:
        """Branch if the condition is 0; return the branch."""
        with self._code.scratch():
            if isinstance(condition, Binary) and MNEMONICS[condition.operator] in COMPARISONS:
                function = OPPOSITE[MNEMONICS[condition.operator]]
                left, right = (self._code.operand(x) for x in (condition.left, condition.right))
            else:
                function, left, right = "eq", self._code.operand(condition), 0
            return self._code.emit(Instruction(op, a=left, b=right, function=function))


def _no_register_threshold(wait: Wait, target: Target) -> Diagnostic:
    return Diagnostic(
        f"a wait compares with a register: {wait}",
        wait.at,
        rule=f"target {target.name!r} compares with numbers only",
        help="synchronize for that target: the pass unroll-thresholds makes numbers of them",
    )


def _too_many_registers(stream: Stream, sync: SyncProgram, target: Target) -> Diagnostic:
    own = sum(register.size for register in sync.engine(stream.engine).registers)
    most = int(target.registers)
    left = most - (stream.registers - own)
    way = f"synchronize with --limit registers={left}" if left > 0 else "nest fewer loops"
    return Diagnostic(
        f"{stream.engine} needs {counted(stream.registers, 'register')}: {own} that count, and"
        f" {stream.registers - own} for iterations, trip counts and intermediate results",
        sync.engine(stream.engine).at,
        rule=f"target {target.name!r} has {counted(most, 'register')} for each engine",
        help=way,
    )
