"""Build a program in Python; its loops are with-statements.

    b = Builder("double_buffer")
    n = b.input("n")
    q = b.queue("q", on="sync")
    x = b.buffer("x", slots=2)
    with b.loop("i", n) as i:
        b.instr("load", "sync", queue=q, writes=[x[i % 2]])
        b.instr("add", "vector", reads=[x[i % 2]], takes=50)
    program = b.build()

Every node remembers the line of Python that made it, and so do the errors.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace
from inspect import currentframe
from linecache import getline

from headway.errors import Diagnostic, InvalidProgram, Location
from headway.ir.expr import Input, Iteration
from headway.ir.program import (
    Access,
    Buffer,
    ControlRead,
    Engine,
    If,
    InputDecl,
    Instr,
    Loop,
    Node,
    Program,
    Queue,
    Takes,
    While,
    Work,
)
from headway.ir.values import BufferRef, ListRef, Number, Place, Value, expression
from headway.ir.verify import verify


class Builder:
    """Collects declarations and nodes; `build` returns the program.

    Engines and queues need no declaration. Names of instructions, iterations and control reads
    may be left out: they are then numbered.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._at = _caller()
        self._inputs: list[InputDecl] = []
        self._engines: dict[str, Engine] = {}
        self._queues: dict[str, Queue] = {}
        self._buffers: list[Buffer] = []
        self._bodies: list[list[Node]] = [[]]
        self._numbers: dict[str, int] = {}

    # Declarations

    def input(self, name: str) -> Value:
        """Declare a run-time input that is a number."""
        self._inputs.append(InputDecl(name, at=_caller()))
        return Value(Input(name))

    def list_input(self, name: str) -> ListRef:
        """Declare a run-time input that is a list of numbers."""
        self._inputs.append(InputDecl(name, is_list=True, at=_caller()))
        return ListRef(name)

    def engine(self, name: str, pipelined: bool = False) -> Engine:
        """Declare an engine."""
        self._new("engine", name, self._engines)
        engine = self._engines[name] = Engine(name, pipelined, _caller())
        return engine

    def queue(self, name: str, on: str | Engine, pipelined: bool = False) -> Queue:
        """Declare a queue whose host is the engine `on`."""
        self._new("queue", name, self._queues)
        queue = self._queues[name] = Queue(name, self._host(on), pipelined, _caller())
        return queue

    def buffer(
        self, name: str, slots: int = 1, shape: Iterable[int] = (), space: str = ""
    ) -> BufferRef:
        """Declare a buffer; `shape` is the extent of one slot."""
        self._buffers.append(Buffer(name, slots, tuple(shape), space, _caller()))
        return BufferRef(self._buffers[-1])

    def _new(self, kind: str, name: str, known: Iterable[str]) -> None:
        """Raise if an engine or queue was declared, or used, under this name before."""
        if name in known:
            message = f"{kind} {name!r} is there already"
            raise InvalidProgram(
                Diagnostic(message, _caller(), help="declare it once, before it is used")
            )

    # Statements

    def instr(
        self,
        name: str | None = None,
        engine: str | Engine | None = None,
        *,
        queue: str | Queue | None = None,
        reads: Iterable[Place] = (),
        writes: Iterable[Place] = (),
        takes: float | tuple[float, float] | None = None,
        does: Work | None = None,
        silent: bool = False,
        fused: bool = False,
    ) -> Instr:
        """Add an instruction.

        It is issued by `engine`, by default the host of `queue`. `takes` is its latency in ns, or
        latency and occupancy; `does` is its work, for targets that know how long it takes. The
        completion of a `silent` one is no signal; before a `fused` one no wait may stand.
        """
        at = _caller()
        if takes is not None and does is not None:
            raise InvalidProgram(Diagnostic("an instruction has `takes` or `does`, not both", at))
        host, trigger = self._sequences(engine, queue, at)
        instr = Instr(
            name or self._number(trigger or host),
            host,
            trigger,
            _accesses(reads),
            _accesses(writes),
            does if takes is None else _duration(takes),
            silent,
            fused,
            at,
        )
        self._bodies[-1].append(instr)
        return instr

    def _sequences(
        self, engine: str | Engine | None, queue: str | Queue | None, at: Location
    ) -> tuple[str, str | None]:
        name = queue.name if isinstance(queue, Queue) else queue
        if engine is None:
            if name not in self._queues:
                message = "an instruction needs an engine, or a declared queue"
                raise InvalidProgram(Diagnostic(message, at))
            engine = self._queues[name].host
        host = self._host(engine)
        if name is not None:
            self._queues.setdefault(name, Queue(name, host, at=at))
        return host, name

    def _host(self, engine: str | Engine) -> str:
        name = engine.name if isinstance(engine, Engine) else engine
        self._engines.setdefault(name, Engine(name, at=_caller()))
        return name

    def _number(self, name: str) -> str:
        self._numbers[name] = self._numbers.get(name, 0) + 1
        return f"{name}.{self._numbers[name]}"

    def control_read(self, name: str | None = None, *, reads: Iterable[Place]) -> ControlRead:
        """Return a read of a trip count or condition from memory, for `load=`."""
        return ControlRead(name or self._number("load"), _accesses(reads), _caller())

    @contextmanager
    def loop(
        self,
        name: str | None = None,
        trip: Number | None = None,
        *,
        load: ControlRead | None = None,
    ) -> Generator[Value, None, None]:
        """Run the body `trip` times; gives the number of the iteration."""
        at, iteration = _caller(), Iteration(name or self._number("i"))
        if trip is None:
            raise InvalidProgram(Diagnostic("a loop needs a trip count", at))
        with self._body() as body:
            yield Value(iteration)
        self._bodies[-1].append(Loop(iteration.loop, expression(trip), tuple(body), load, at))

    @contextmanager
    def repeat_while(
        self,
        name: str | None,
        condition: Callable[[Value], Number],
        *,
        load: ControlRead | None = None,
    ) -> Generator[Value, None, None]:
        """Run the body while `condition(iteration)` is not 0; gives the number of the iteration."""
        at, iteration = _caller(), Iteration(name or self._number("i"))
        test = expression(condition(Value(iteration)))
        with self._body() as body:
            yield Value(iteration)
        self._bodies[-1].append(While(iteration.loop, test, tuple(body), load, at))

    @contextmanager
    def when(
        self, condition: Number, *, load: ControlRead | None = None
    ) -> Generator[None, None, None]:
        """Run the body if `condition` is not 0."""
        at = _caller()
        with self._body() as body:
            yield
        self._bodies[-1].append(If(expression(condition), tuple(body), (), load, at))

    @contextmanager
    def otherwise(self) -> Generator[None, None, None]:
        """Run the body if the condition of the `when` just before was 0."""
        last = self._bodies[-1][-1] if self._bodies[-1] else None
        if not isinstance(last, If) or last.orelse:
            message = "there is no `when` just before this `otherwise`"
            raise InvalidProgram(Diagnostic(message, _caller()))
        with self._body() as body:
            yield
        self._bodies[-1][-1] = replace(last, orelse=tuple(body))

    @contextmanager
    def _body(self) -> Generator[list[Node], None, None]:
        self._bodies.append([])
        try:
            yield self._bodies[-1]
        finally:
            self._bodies.pop()

    def build(self) -> Program:
        """Return the program. Raise InvalidProgram with all its problems if it is not valid."""
        if len(self._bodies) > 1:
            raise InvalidProgram(Diagnostic("build inside a loop, `while` or `if`", _caller()))
        program = Program(
            self._name,
            tuple(self._bodies[0]),
            tuple(self._inputs),
            tuple(self._engines.values()),
            tuple(self._queues.values()),
            tuple(self._buffers),
            self._at,
        )
        verify(program, _python_line)
        return program


def _accesses(places: Iterable[Place]) -> tuple[Access, ...]:
    if isinstance(places, BufferRef | Access):
        raise InvalidProgram(Diagnostic("reads and writes are lists of places", _caller()))
    return tuple(place if isinstance(place, Access) else place.access() for place in places)


def _duration(takes: float | tuple[float, float]) -> Takes:
    return Takes(*takes) if isinstance(takes, tuple) else Takes(takes, takes)


_LIBRARY = {__file__, contextmanager.__code__.co_filename}


def _caller() -> Location:
    """Return the line of Python outside the builder that is being run."""
    frame = currentframe()
    while frame and frame.f_back and frame.f_code.co_filename in _LIBRARY:
        frame = frame.f_back
    assert frame, "this Python keeps no frames"
    return Location(frame.f_code.co_filename, frame.f_lineno, 1)


def _python_line(at: Location) -> str | None:
    return getline(at.file, at.line).rstrip("\n") or None
