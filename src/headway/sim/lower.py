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

from headway.code import rows
from headway.code.flow import Flow
from headway.code.values import Shared
from headway.ir.expr import Inputs
from headway.ir.program import control_counter
from headway.ir.walk import deep_nests
from headway.ir.written_out import Turns
from headway.sim import code as op
from headway.sim import records as rec
from headway.sim.actions import operations
from headway.sim.code import Code
from headway.sim.model import Model
from headway.sim.timeline import Site
from headway.sync.problems import negative_trip
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


def lower(sync: SyncProgram, model: Model, inputs: Inputs) -> Code:
    """Return the code of all engines. Raise TooLarge if a constant or an input is too large."""
    code = Code(rec.initial(model, tuple(engine.engine for engine in sync.engines)))
    shared = Shared(code, inputs)
    with deep_nests():
        for engine in sync.engines:
            code.entries.append(len(code))
            _Lowering(engine, model, code, shared).run()
    return code


class _Lowering(Flow[Code]):
    def __init__(self, engine: EngineProgram, model: Model, code: Code, shared: Shared) -> None:
        registers = {r.name: (code.place([0] * r.size), r.size) for r in engine.registers}
        super().__init__(code, shared, registers, engine.at, model.costs.loop)
        self._engine = engine
        self._model = model
        self._costs = model.costs
        self._timing = {name: rec.timing_at(model, n) for n, name in enumerate(model.timings)}
        self._counter = {name: rec.counter_at(n) for name, n in model.number.items()}
        self._taken: dict[str, int] = {}  # where the tokens of a flag are counted
        self._spent = 0  # ps on synchronization since the last row that takes time
        self._before: int | None = None  # that row, if it and what follows are always done together

    def run(self) -> None:
        self._body(self._engine.body)
        self._emit(op.END)

    def _emit(self, operation: int, *operands: int) -> int:
        """Append a row that takes time, or leads elsewhere, after the time spent so far."""
        self._spend()
        row = super()._emit(operation, *operands)
        self._before = row if operation >= rows.TURN else None
        return row

    def _spend(self) -> None:
        spent, self._spent = self._spent, 0
        if spent and self._before is None:
            self._before = self._code.emit(self._loop, op.SPEND)
        if spent and self._before is not None:
            self._code.rows[self._before * rows.WIDTH + rows.AFTER] += spent

    def _label(self) -> int:
        """Return the number of the next row, to which a jump leads."""
        self._spend()
        self._before = None
        return len(self._code)

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
        self._emit(operation, self._timing[node.instr], *self._site(node.instr, node.turns))

    def _load(self, node: Load | None) -> None:
        if node is None:
            return
        self._waits(node.waits, self._costs.free_waits)
        counter = self._counter[control_counter(self._engine.engine)]
        self._emit(op.READ, counter, *self._site(node.control))

    def _site(self, name: str, turns: Turns = ()) -> tuple[int, int, int]:
        """Return the number of a new site, where its iterations are listed, and how many."""
        code, iterations = self._code, [*self._values.iterations.values()]
        iterations += [self._shared.constant(number) for _, number in turns]
        code.sites.append(Site(name, len(iterations)))
        return len(code.sites) - 1, code.place(iterations), len(iterations)

    def _waits(self, waits: tuple[Wait, ...], attached: int) -> None:
        for number, wait in enumerate(waits[attached:] + waits[:attached]):
            register, offset = wait.threshold.register, wait.threshold.offset
            if register is not None and offset and not self._costs.has_register_sums:
                self._spent += self._costs.register
            base = self._lower(0 if register is None else register, wait.at)
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
        self._emit(rows.ADD, taken, taken, self._shared.constant(1))
        row = self._emit(op.AWAIT, self._counter[node.flag], taken, 0, 0, self._costs.flag)
        self._code.places[row] = node.at

    def _assign(self, node: Assign) -> None:
        self._values.assign(node.register, node.value, self._loop, node.at)
        self._spent += self._costs.register * operations(node.value)

    def _for(self, node: SyncLoop) -> None:
        self._load(node.load)
        loop, at = node.iteration, node.at

        def negative(trip: int) -> Exception:
            return negative_trip(loop, trip, at)

        self._counted(loop, node.trip, at, negative, lambda: self._body(node.body), node.first)

    def _while(self, node: SyncWhile) -> None:
        self._conditional(
            node.iteration,
            node.condition,
            node.at,
            lambda: self._load(node.load),
            lambda: self._body(node.body),
        )

    def _end_of_turn(self) -> None:
        self._spend()

    def _leave(self, iteration: str, test: int, operand: int) -> None:
        super()._leave(iteration, test, operand)
        self._spent += self._costs.branch

    def _if(self, node: SyncIf) -> None:
        self._load(node.load)
        condition = self._lower(node.condition, node.at)
        self._spent += self._costs.branch
        self._choice(condition, lambda: self._body(node.then), lambda: self._body(node.orelse))
