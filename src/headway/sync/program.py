"""The synchronized program: one program per engine, on one screen.

Each engine walks a control skeleton of its own. It counts in private registers, waits until a
counter has reached a threshold, and issues instructions; the completion of an instruction adds one
to its counter. `+=`, captures and closed forms are all `Assign`.

    engine vector {
      registers shadow.q
      loop i n {
        shadow.q := shadow.q + 1
        add waits q >= shadow.q
      }
    }
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from headway.errors import Location
from headway.ir.expr import Expr, Leaf, source
from headway.ir.program import Program
from headway.ir.written_out import Turns


def _place() -> Location | None:
    return field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Register:
    """A private register of an engine, or a row of `size` of them; 0 at program start."""

    name: str
    size: int = 1


@dataclass(slots=True, unsafe_hash=True)  # not frozen: made more often than others; never changed
class RegisterRef(Leaf):
    """The value of a register; `index` selects one of a row."""

    name: str
    index: Expr = 0

    def source(self) -> str:
        if self.index == 0:
            return f"registers[{self.name!r}][0]"
        return f"at(registers[{self.name!r}], {source(self.index)}, {self.name!r})"

    def parts(self) -> tuple[Expr, ...]:
        return (self.index,)

    def __str__(self) -> str:
        return self.name if self.index == 0 else f"{self.name}[{self.index}]"


@dataclass(slots=True, unsafe_hash=True)  # not frozen: made more often than others; never changed
class Threshold:
    """What a wait compares with: `register + offset`, or the constant `offset`."""

    register: RegisterRef | None = None
    offset: int = 0

    def __str__(self) -> str:
        if self.register is None:
            return str(self.offset)
        if not self.offset:
            return str(self.register)
        return f"{self.register} {'+' if self.offset > 0 else '-'} {abs(self.offset)}"


@dataclass(slots=True, unsafe_hash=True)  # not frozen: made more often than others; never changed
class Wait:
    """Stand still until `counter >= threshold`. Non-destructive; holds at once if it is <= 0."""

    counter: str
    threshold: Threshold
    at: Location | None = _place()

    def __str__(self) -> str:
        return f"{self.counter} >= {self.threshold}"


@dataclass(slots=True, unsafe_hash=True)  # not frozen: made more often than others; never changed
class Exec:
    """Issue the instruction of that name after its waits hold.

    `turns` are the iterations of the innermost loops around it in the sequential program, where
    those are written out here, as straight-line code: the loops as a whole, or their first
    iteration in front of a loop with the others.
    """

    instr: str
    waits: tuple[Wait, ...] = ()
    at: Location | None = _place()
    turns: Turns = ()


@dataclass(frozen=True, slots=True)
class Waits:
    """Waits that stand alone."""

    waits: tuple[Wait, ...]
    at: Location | None = _place()


@dataclass(slots=True, unsafe_hash=True)  # not frozen: made more often than others; never changed
class Assign:
    """Set a register to the value of an expression over registers, iterations and inputs."""

    register: RegisterRef
    value: Expr
    at: Location | None = _place()


@dataclass(frozen=True, slots=True)
class Load:
    """Load the value of the control read of that name; adds one to the engine's control counter."""

    control: str
    waits: tuple[Wait, ...] = ()
    at: Location | None = _place()


@dataclass(frozen=True, slots=True)
class Barrier:
    """Meet all other engines with every instruction completed, then set all counters to 0."""

    at: Location | None = _place()


@dataclass(frozen=True, slots=True)
class SetFlag:
    """Add a token to a flag once everything issued so far on its counter has completed.

    The engine, which is the host of that counter, goes on at once.
    """

    flag: str
    at: Location | None = _place()


@dataclass(frozen=True, slots=True)
class TakeFlag:
    """Stand still until a flag has a token, and take it."""

    flag: str
    at: Location | None = _place()


@dataclass(frozen=True, slots=True)
class SyncLoop:
    """Run `body` `trip` times; `load` comes first if the count lies in memory.

    Iterations are numbered from `first`: those before it are written out in front of the loop.
    """

    iteration: str
    trip: Expr
    body: tuple[SyncNode, ...]
    load: Load | None = None
    at: Location | None = _place()
    first: int = 0


@dataclass(frozen=True, slots=True)
class SyncWhile:
    """Run `body` while `condition` is not 0; `load` comes before every test."""

    iteration: str
    condition: Expr
    body: tuple[SyncNode, ...]
    load: Load | None = None
    at: Location | None = _place()


@dataclass(frozen=True, slots=True)
class SyncIf:
    """Run `then` if `condition` is not 0, else `orelse`."""

    condition: Expr
    then: tuple[SyncNode, ...]
    orelse: tuple[SyncNode, ...] = ()
    load: Load | None = None
    at: Location | None = _place()


SyncNode = (
    Exec | Waits | Assign | Load | Barrier | SetFlag | TakeFlag | SyncLoop | SyncWhile | SyncIf
)


@dataclass(frozen=True, slots=True)
class Flag:
    """Tokens from one counter to one engine, as many as were set and not taken; none at the start.

    Only the host of `counter` sets them and only `engine` takes them, so the k-th token taken is
    the k-th one set. A barrier leaves them as they are. `holds` is how many tokens fit; 0 is any
    number. A barrier with one phase bit, or a ring of n of them used in turn, holds 1, or n.
    """

    name: str
    counter: str
    engine: str
    holds: int = 0
    at: Location | None = _place()


@dataclass(frozen=True, slots=True)
class Semaphore:
    """What holds a counter: `width` bits, in two's complement if `is_signed`.

    It wraps when it is full. A wait compares as many bits of its threshold.
    """

    number: int
    counter: str
    width: int
    is_signed: bool = False
    at: Location | None = _place()

    @property
    def most(self) -> int:
        """The largest count that it can hold."""
        return 2 ** (self.width - self.is_signed) - 1

    def value(self, count: int) -> int:
        """Return what is read after `count` signals, and what a threshold of `count` looks like."""
        value = count % 2**self.width
        return value - 2**self.width if value > self.most else value


@dataclass(frozen=True, slots=True)
class EngineProgram:
    """What one engine runs, with the registers it uses."""

    engine: str
    body: tuple[SyncNode, ...]
    registers: tuple[Register, ...] = ()
    at: Location | None = _place()


@dataclass(frozen=True, slots=True)
class SyncProgram:
    """The programs of all engines, and the sequential program that they implement.

    `program` is bound to the target: every instruction has a duration, every engine is declared.
    Without `semaphores` every counter counts as far as it has to.
    """

    program: Program
    engines: tuple[EngineProgram, ...]
    strategy: str = "manual"
    target: str = "generic"
    flags: tuple[Flag, ...] = ()
    semaphores: tuple[Semaphore, ...] = ()

    def _repr_html_(self) -> str:
        """Show the engine programs in a notebook, beside each other."""
        from headway import html
        from headway.sync.printer import engine_text

        title = f"{self.program.name}, {self.strategy} on {self.target}"
        return html.notes([title]) + html.columns((e.engine, engine_text(e)) for e in self.engines)

    def engine(self, name: str) -> EngineProgram:
        """Return the program of one engine; KeyError if it has none."""
        for engine in self.engines:
            if engine.engine == name:
                return engine
        raise KeyError(name)


_NESTED = (SyncLoop, SyncWhile, SyncIf)


def sync_branches(node: SyncNode) -> tuple[tuple[SyncNode, ...], ...]:
    """Return the bodies of a node."""
    match node:
        case SyncLoop() | SyncWhile():
            return (node.body,)
        case SyncIf():
            return (node.then, node.orelse)
        case _:
            return ()


def walk_sync(body: tuple[SyncNode, ...]) -> Iterator[SyncNode]:
    """Yield every node in textual order, without recursion; the load of a loop follows the loop."""
    stack = [iter(body)]
    while stack:
        for node in stack[-1]:
            yield node
            if isinstance(node, _NESTED):
                if node.load:
                    yield node.load
                stack += [iter(part) for part in reversed(sync_branches(node))]
                break
        else:
            stack.pop()
