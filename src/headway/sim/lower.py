"""Lower a synchronized program to flat code for the compiled simulator.

In     a verified synchronized program, its inputs, the model of its target
Out    `Code`: rows of integers, memory, and for each row that can stop, what to say then
Cost   linear

    loop i n { mm waits q >= shadow.q - 1 }

         CHECK n >= 0
         MOVE  i, 0
         PAST  i, n, exit
         TURN  loop
    head AWAIT q, shadow.q, -1
         COMPUTE mm
         NEXT  i, n, head, loop
    exit SPEND branch

Time that an engine spends between rows is added to the row before, unless the code can be reached
from elsewhere.
"""

from __future__ import annotations

from headway.errors import Location
from headway.ir.expr import Inputs
from headway.ir.program import control_counter
from headway.ir.walk import deep_nests
from headway.sim import code as op
from headway.sim import problems
from headway.sim import records as rec
from headway.sim.actions import operations
from headway.sim.code import Code
from headway.sim.lower_values import Shared, Values, is_below
from headway.sim.model import Model
from headway.sim.timeline import Site
from headway.sync.program import (
    Assign,
    Barrier,
    EngineProgram,
    Exec,
    Load,
    SetFlag,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    TakeFlag,
    Wait,
    Waits,
)

TRIPS = op.LARGEST


def lower(sync: SyncProgram, model: Model, inputs: Inputs) -> Code:
    """Return the code of all engines. Raise TooLarge if a constant or an input is too large."""
    code = Code(rec.initial(model, tuple(engine.engine for engine in sync.engines)))
    shared = Shared(code, inputs)
    with deep_nests():
        for engine in sync.engines:
            code.entries.append(len(code))
            _Lowering(engine, model, code, shared).run()
    return code


class _Lowering:
    def __init__(self, engine: EngineProgram, model: Model, code: Code, shared: Shared) -> None:
        self._engine = engine
        self._model = model
        self._costs = model.costs
        self._timing = {name: rec.timing_at(model, n) for n, name in enumerate(model.timings)}
        self._counter = {name: rec.counter_at(n) for name, n in model.number.items()}
        self._code = code
        self._shared = shared
        self._registers = {r.name: (code.place([0] * r.size), r.size) for r in engine.registers}
        self._values = Values(code, shared, self._registers)
        self._loop: Location | None = engine.at
        self._taken: dict[str, int] = {}  # where the tokens of a flag are counted
        self._spent = 0  # ps on synchronization since the last row that takes time
        self._before: int | None = None  # that row, if it and what follows are always done together

    def run(self) -> None:
        self._body(self._engine.body)
        self._emit(op.END)

    def _emit(self, operation: int, *operands: int) -> int:
        """Append a row that takes time, or leads elsewhere, after the time spent so far."""
        self._spend()
        row = self._code.emit(self._loop, operation, *operands)
        self._before = row if operation >= op.SPEND else None
        return row

    def _spend(self) -> None:
        spent, self._spent = self._spent, 0
        if spent and self._before is None:
            self._before = self._code.emit(self._loop, op.SPEND)
        if spent and self._before is not None:
            self._code.rows[self._before * op.WIDTH + op.AFTER] += spent

    def _label(self) -> int:
        """Return the number of the next row, to which a jump leads."""
        self._spend()
        self._before = None
        return len(self._code)

    def _land(self, row: int, operand: int) -> None:
        self._code.land(row, operand, self._label())

    def _body(self, nodes: tuple[SyncNode, ...]) -> None:
        for node in nodes:
            match node:
                case Exec():
                    self._exec(node)
                case Waits():
                    self._waits(node.waits, attached=0)
                case Assign():
                    self._assign(node)
                case Load():
                    self._load(node)
                case Barrier():
                    self._code.places[self._emit(op.MEET)] = node.at
                case SetFlag():
                    self._set(node)
                case TakeFlag():
                    self._take(node)
                case SyncLoop():
                    self._for(node)
                case SyncWhile():
                    self._while(node)
                case SyncIf():
                    self._if(node)

    def _exec(self, node: Exec) -> None:
        self._waits(node.waits, self._costs.free_waits)
        is_transfer = self._model.timings[node.instr].trigger is not None
        operation = op.TRANSFER if is_transfer else op.COMPUTE
        self._emit(operation, self._timing[node.instr], *self._site(node.instr))

    def _load(self, node: Load | None) -> None:
        if node is None:
            return
        self._waits(node.waits, self._costs.free_waits)
        counter = self._counter[control_counter(self._engine.engine)]
        self._emit(op.READ, counter, *self._site(node.control))

    def _site(self, name: str) -> tuple[int, int, int]:
        """Return the number of a new site, where its iterations are listed, and how many."""
        code, iterations = self._code, [*self._values.iterations.values()]
        code.sites.append(Site(name, len(iterations)))
        return len(code.sites) - 1, code.place(iterations), len(iterations)

    def _waits(self, waits: tuple[Wait, ...], attached: int) -> None:
        for number, wait in enumerate(waits[attached:] + waits[:attached]):
            register, offset = wait.threshold.register, wait.threshold.offset
            if register is not None and offset and not self._costs.has_register_sums:
                self._spent += self._costs.register
            base = self._values.lower(0 if register is None else register, self._loop, wait.at)
            cost = self._costs.wait if number < len(waits) - attached else 0
            row = self._emit(op.AWAIT, self._counter[wait.counter], base, offset, 0, cost)
            self._code.places[row] = wait.at

    def _set(self, node: SetFlag) -> None:
        number = self._model.number[node.flag] - len(self._model.counters)
        source = rec.counter_at(self._model.sources[number])
        self._emit(op.GIVE, self._counter[node.flag], source, self._costs.flag)

    def _take(self, node: TakeFlag) -> None:
        """The k-th take of a flag waits for its k-th token."""
        taken = self._taken.get(node.flag)
        if taken is None:
            taken = self._taken[node.flag] = self._code.place([0])
        self._emit(op.ADD, taken, taken, self._shared.constant(1))
        row = self._emit(op.AWAIT, self._counter[node.flag], taken, 0, 0, self._costs.flag)
        self._code.places[row] = node.at

    def _assign(self, node: Assign) -> None:
        base, size = self._registers[node.register.name]
        index = node.register.index
        if isinstance(index, int) and 0 <= index < size:
            self._values.lower(node.value, self._loop, node.at, into=base + index)
        else:
            name, at = node.register.name, node.at
            place = self._values.lower(index, self._loop, node.at)
            if not is_below(index, size):
                self._values.check(place, size, lambda i: problems.no_element(name, size, i, at))
            value = self._values.lower(node.value, self._loop, node.at)
            self._code.emit(self._loop, op.STORE, base, value, place)
        self._spent += self._costs.register * operations(node.value)

    def _for(self, node: SyncLoop) -> None:
        self._load(node.load)
        # A copy: the registers of the expression may change inside the loop.
        trip = self._values.lower(node.trip, self._loop, node.at, into=self._code.place([0]))
        loop, at = node.iteration, node.at
        self._values.check(trip, TRIPS, lambda n: problems.negative_trip(loop, n, at))
        with self._values.scope():
            iteration = self._enter(node)
            test = self._emit(op.PAST, iteration, trip, 0)
            turn = self._turn(node)
            cost = self._code.rows[turn * op.WIDTH + op.AFTER]
            self._code.emit(node.at, op.NEXT, iteration, trip, turn + 1, cost)
        self._leave(node, test, 3)

    def _while(self, node: SyncWhile) -> None:
        with self._values.scope():
            iteration = self._enter(node)
            head = self._label()
            self._load(node.load)
            condition = self._values.lower(node.condition, self._loop, node.at)
            test = self._emit(op.ZERO, condition, 0)
            self._turn(node)
            self._emit(op.ADD, iteration, iteration, self._shared.constant(1))
            self._emit(op.JUMP, head)
        self._leave(node, test, 2)

    def _enter(self, node: SyncLoop | SyncWhile) -> int:
        iteration = self._code.place([0])
        self._values.iterations[node.iteration] = iteration
        self._emit(op.MOVE, iteration, self._shared.constant(0))
        return iteration

    def _turn(self, node: SyncLoop | SyncWhile) -> int:
        """Lower one iteration; return the row of its cost, at its beginning."""
        outer, self._loop = self._loop, node.at
        turn = self._emit(op.TURN, 0, 0, 0, 0, self._costs.loop)
        self._body(node.body)
        self._spend()
        self._loop = outer
        return turn

    def _leave(self, node: SyncLoop | SyncWhile, test: int, operand: int) -> None:
        del self._values.iterations[node.iteration]
        self._land(test, operand)
        self._spent += self._costs.branch

    def _if(self, node: SyncIf) -> None:
        self._load(node.load)
        condition = self._values.lower(node.condition, self._loop, node.at)
        self._spent += self._costs.branch
        test = self._emit(op.ZERO, condition, 0)
        with self._values.scope():
            self._body(node.then)
        end = self._emit(op.JUMP, 0)
        self._land(test, 2)
        with self._values.scope():
            self._body(node.orelse)
        self._land(end, 1)
