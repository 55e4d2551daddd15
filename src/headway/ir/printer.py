"""Write a sequential program as `.hwy` text; `parse` gives the same program back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headway.ir.expr import Expr
from headway.ir.expr_text import box_text, expression_text
from headway.ir.program import (
    Access,
    Buffer,
    ControlRead,
    Engine,
    If,
    Instr,
    Loop,
    Node,
    Program,
    Queue,
    Takes,
    While,
    Work,
)
from headway.ir.walk import deep_nests


def to_text(program: Program) -> str:
    """Return `program` as text, with all its declarations."""
    with deep_nests():
        return "\n".join(program_lines(program)) + "\n"


def program_lines(program: Program) -> Iterator[str]:
    """Yield the lines of `program ... { ... }`."""
    yield f"program @{program.name} {{"
    for decl in program.inputs:
        yield f"  input {decl.name}{'[]' if decl.is_list else ''}"
    yield from (f"  {_engine(engine)}" for engine in program.engines)
    yield from (f"  {_queue(queue)}" for queue in program.queues)
    yield from (f"  {_buffer(buffer)}" for buffer in program.buffers)
    lines: list[str] = []
    _body(program.body, "  ", lines)
    yield from lines
    yield "}"


def loop_text(iteration: str, trip: Expr) -> str:
    """Return `loop NAME TRIP`; a minus in front would be taken for a subtraction."""
    text = expression_text(trip)
    return f"loop {iteration} ({text})" if text.startswith("-") else f"loop {iteration} {text}"


def while_text(iteration: str, condition: Expr) -> str:
    """Return `while NAME (CONDITION)`."""
    return f"while {iteration} ({expression_text(condition)})"


def _engine(engine: Engine) -> str:
    return f"engine {engine.name}{_pipelined(engine)}"


def _queue(queue: Queue) -> str:
    return f"queue {queue.name} on {queue.host}{_pipelined(queue)}"


def _pipelined(sequence: Engine | Queue) -> str:
    return " pipelined" if sequence.pipelined else ""


def _buffer(buffer: Buffer) -> str:
    slots = f" slots {buffer.slots}" if buffer.slots != 1 else ""
    shape = f" shape({', '.join(map(str, buffer.shape))})" if buffer.shape else ""
    space = f" space({buffer.space})" if buffer.space else ""
    return f"buffer {buffer.name}{slots}{shape}{space}"


def _body(body: tuple[Node, ...], indent: str, lines: list[str]) -> None:
    for node in body:
        if isinstance(node, Instr):
            lines.append(indent + _instr(node))
            continue
        lines.append(f"{indent}{_head(node)}{_load(node.control)} {{")
        _body(node.then if isinstance(node, If) else node.body, indent + "  ", lines)
        if isinstance(node, If) and node.orelse:
            lines.append(f"{indent}}} else {{")
            _body(node.orelse, indent + "  ", lines)
        lines.append(indent + "}")


def _head(node: Loop | While | If) -> str:
    match node:
        case Loop():
            return loop_text(node.iteration, node.trip)
        case While():
            return while_text(node.iteration, node.condition)
        case If():
            return f"if {expression_text(node.condition)}"


def _load(control: ControlRead | None) -> str:
    return f" load {control.name}{_accesses('reads', control.reads)}" if control else ""


def _instr(instr: Instr) -> str:
    queue = f" triggers({instr.queue})" if instr.queue is not None else ""
    reads, writes = _accesses("reads", instr.reads), _accesses("writes", instr.writes)
    marks = " silent" * instr.silent + " fused" * instr.fused
    return f"{instr.engine} {instr.name}{queue}{reads}{writes}{_cost(instr.cost)}{marks}"


def _accesses(word: str, accesses: Iterable[Access]) -> str:
    text = ", ".join(map(_access, accesses))
    return f" {word}({text})" if text else ""


def _access(access: Access) -> str:
    if access.box is None:
        return access.buffer if access.slot == 0 else f"{access.buffer}[{_slot(access)}]"
    return f"{access.buffer}[{_slot(access)}]{box_text(access.box)}"


def _slot(access: Access) -> str:
    return expression_text(access.slot)


def _cost(cost: Takes | Work | None) -> str:
    if cost is None:
        return ""
    if isinstance(cost, Work):
        return _work(cost)
    latency, occupancy = _duration(cost.latency), _duration(cost.occupancy)
    return f" takes({latency})" if latency == occupancy else f" takes({latency}, {occupancy})"


def _duration(duration: float) -> str:
    return repr(float(duration)).removesuffix(".0")


def _work(work: Work) -> str:
    fields = [work.operation]
    fields += [f"{name}={value}" for name, value in _amounts(work) if value]
    return f" does({', '.join(fields)})"


def _amounts(work: Work) -> Iterator[tuple[str, int | str]]:
    yield "elements", work.elements
    yield "bytes", work.bytes
    yield "dtype", "" if work.dtype == "float32" else work.dtype
    yield "moves", work.moves
