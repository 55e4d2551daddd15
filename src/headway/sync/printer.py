"""Write a synchronized program as `.hwy` text; `parse_sync` gives the same program back."""

from __future__ import annotations

from collections.abc import Iterator

from headway.ir.expr_text import expression_text
from headway.ir.names import WORDS
from headway.ir.printer import loop_text, program_lines, while_text
from headway.ir.walk import deep_nests
from headway.ir.written_out import Turns
from headway.sync.program import (
    Assign,
    Barrier,
    EngineProgram,
    Exec,
    Load,
    Register,
    Semaphore,
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


def to_text(sync: SyncProgram) -> str:
    """Return `sync` as text: the sequential program, then that of each engine."""
    with deep_nests():
        return "\n".join(_lines(sync)) + "\n"


def engine_text(engine: EngineProgram) -> str:
    """Return the program of one engine as text."""
    with deep_nests():
        return "\n".join(line[2:] for line in _engine_lines(engine)) + "\n"


def _lines(sync: SyncProgram) -> Iterator[str]:
    name = sync.program.name
    yield f"sync @{name} strategy {sync.strategy} target {sync.target} {{"
    yield from (f"  {line}" for line in program_lines(sync.program))
    for flag in sync.flags:
        holds = f" holds {flag.holds}" if flag.holds else ""
        yield f"  flag {flag.name} from {flag.counter} to {flag.engine}{holds}"
    yield from (f"  {_semaphore(semaphore)}" for semaphore in sync.semaphores)
    for engine in sync.engines:
        yield from _engine_lines(engine)
    yield "}"


def _semaphore(semaphore: Semaphore) -> str:
    text = f"semaphore {semaphore.number} counts {semaphore.counter} width {semaphore.width}"
    return f"{text} signed" if semaphore.is_signed else text


def _engine_lines(engine: EngineProgram) -> Iterator[str]:
    yield f"  engine {engine.engine} {{"
    if engine.registers:
        yield f"    registers {', '.join(map(_register, engine.registers))}"
    lines: list[str] = []
    _body(engine.body, "    ", lines)
    yield from lines
    yield "  }"


def _register(register: Register) -> str:
    return register.name if register.size == 1 else f"{register.name}[{register.size}]"


def _body(body: tuple[SyncNode, ...], indent: str, lines: list[str]) -> None:
    for node in body:
        if not isinstance(node, SyncLoop | SyncWhile | SyncIf):
            lines.append(indent + _statement(node))
            continue
        load = f" {_statement(node.load)}" if node.load else ""
        lines.append(f"{indent}{_head(node)}{load} {{")
        _body(node.then if isinstance(node, SyncIf) else node.body, indent + "  ", lines)
        if isinstance(node, SyncIf) and node.orelse:
            lines.append(f"{indent}}} else {{")
            _body(node.orelse, indent + "  ", lines)
        lines.append(indent + "}")


def _head(node: SyncLoop | SyncWhile | SyncIf) -> str:
    match node:
        case SyncLoop():
            first = f" at {node.first}" if node.first else ""
            return loop_text(node.iteration, node.trip) + first
        case SyncWhile():
            return while_text(node.iteration, node.condition)
        case SyncIf():
            return f"if {expression_text(node.condition)}"


def _statement(node: Exec | Waits | Assign | Load | Barrier | SetFlag | TakeFlag) -> str:
    match node:
        case Exec():
            word = "exec " if node.instr in WORDS else ""
            return f"{word}{node.instr}{_turns(node.turns)}{_waits(node.waits)}"
        case Waits():
            return f"wait {', '.join(map(str, node.waits))}"
        case Assign():
            return f"{node.register} := {expression_text(node.value)}"
        case Load():
            return f"load {node.control}{_waits(node.waits)}"
        case Barrier():
            return "barrier"
        case SetFlag():
            return f"set {node.flag}"
        case TakeFlag():
            return f"take {node.flag}"


def _turns(turns: Turns) -> str:
    return f" at {', '.join(f'{loop} {number}' for loop, number in turns)}" if turns else ""


def _waits(waits: tuple[Wait, ...]) -> str:
    return f" waits {', '.join(map(str, waits))}" if waits else ""
