"""Read a module of HIVM as `bishengir-opt` prints it, and replay it for given inputs.

Only what its synchronization passes print for exported programs is known. A replay yields, in
program order, what is executed: instructions with the addresses that they touch, tokens that are
set and taken, barriers of one pipe and of all.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from headway.errors import Diagnostic, HeadwayError


class Operation(NamedTuple):
    """An instruction: the pipe that runs it, and the addresses on chip that it touches."""

    pipe: str
    reads: tuple[int, ...]
    writes: tuple[int, ...]


class SetToken(NamedTuple):
    """Pipe `source` sets a token for pipe `sink`."""

    source: str
    sink: str
    event: int


class TakeToken(NamedTuple):
    """Pipe `sink` waits for a token of pipe `source` and takes it."""

    source: str
    sink: str
    event: int


class PipeBarrier(NamedTuple):
    """A pipe, or ALL of them, waits until what it issued before has completed."""

    pipe: str


Event = Operation | SetToken | TakeToken | PipeBarrier
ALL = "PIPE_ALL"

_PIPE = {"load": "PIPE_MTE2", "store": "PIPE_MTE3", "vadd": "PIPE_V"}
_FOR = re.compile(r"scf\.for (%\w+) = (\S+) to (\S+) step (\S+) .*\{$")
_IF = re.compile(r"scf\.if (%\w+) .*\{$")
_TOKEN = re.compile(r"hivm\.hir\.(set|wait)_flag\[<(\w+)>, <(\w+)>, (.+?)\]")
_BARRIER = re.compile(r"hivm\.hir\.pipe_barrier\[<(\w+)>\]")
_WORK = re.compile(r"hivm\.hir\.(load|store|vadd) ins\((.*?) :.*outs\((%\w+) :")
_VALUE = re.compile(r"(%\w+) = ([\w.]+)(.*)$")
_APPLY = re.compile(r"\s*(#map\d*)\((.*?)\)(?:\[(.*?)\])?")
_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "arith.addi": lambda left, right: left + right,
    "arith.subi": lambda left, right: left - right,
    "arith.muli": lambda left, right: left * right,
    "arith.remui": lambda left, right: left % right,
    "arith.remsi": lambda left, right: left % right,
    "arith.divui": lambda left, right: left // right,
    "arith.divsi": lambda left, right: left // right,
    "arith.andi": lambda left, right: left & right,
    "arith.ori": lambda left, right: left | right,
}
_COMPARISON: Mapping[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "slt": operator.lt,
    "ult": operator.lt,
    "sle": operator.le,
    "ule": operator.le,
    "sgt": operator.gt,
    "ugt": operator.gt,
    "sge": operator.ge,
    "uge": operator.ge,
}


class Block(NamedTuple):
    """A loop or an if: its first line, its body and what stands behind `else`."""

    head: str
    body: list[str | Block]
    orelse: list[str | Block]


class Module(NamedTuple):
    """A module with one function: its arguments, its body and the affine maps it names."""

    arguments: tuple[str, ...]
    body: list[str | Block]
    maps: Mapping[str, str]


def read(text: str) -> Module:
    """Read a module. Raise HeadwayError if it has no function."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    maps: dict[str, str] = {}
    for line in lines:
        if match := re.match(r"(#map\d*) = affine_map<(.*)>$", line):
            maps[match[1]] = match[2]
    start = next((n for n, line in enumerate(lines) if line.startswith("func.func")), None)
    if start is None:
        raise HeadwayError(Diagnostic("the module has no function"))
    arguments = tuple(re.findall(r"(%\w+): ", lines[start]))
    rest = iter(lines[start + 1 :])
    return Module(arguments, _block(rest)[0], maps)


def _block(lines: Iterator[str]) -> tuple[list[str | Block], str]:
    """Return what stands up to the end of a block, and the line that ends it."""
    found: list[str | Block] = []
    for line in lines:
        if line.startswith("}"):
            return found, line
        if line.endswith("{"):
            body, end = _block(lines)
            orelse = _block(lines)[0] if end.startswith("} else") else []
            found.append(Block(line, body, orelse))
        else:
            found.append(line)
    return found, ""


def replay(module: Module, arguments: Mapping[int, int]) -> Iterator[Event]:
    """Yield what a run executes; `arguments` are values by position. Raise HeadwayError."""
    return _Run(module, arguments).body(module.body)


class _Run:
    def __init__(self, module: Module, arguments: Mapping[int, int]) -> None:
        self.maps = module.maps
        self.values = {module.arguments[n]: value for n, value in arguments.items()}
        self.memory: dict[str, int] = {}
        # Values of different blocks may have the same name, so a cast is known by its place.
        self.turns: Counter[tuple[int, int]] = Counter()

    def body(self, nodes: list[str | Block]) -> Iterator[Event]:
        for number, node in enumerate(nodes):
            if isinstance(node, str):
                yield from self.line(node, (id(nodes), number))
            elif loop := _FOR.match(node.head):
                name, *bounds = loop.groups()
                for value in range(*map(self.value, bounds)):
                    self.values[name] = value
                    yield from self.body(node.body)
            elif condition := _IF.match(node.head):
                yield from self.body(node.body if self.value(condition[1]) else node.orelse)
            else:
                raise _unknown(node.head)

    def line(self, line: str, place: tuple[int, int]) -> Iterator[Event]:
        if token := _TOKEN.match(line):
            kind, source, sink, event = token.groups()
            named = re.search(r"EVENT_ID(\d+)", event)
            number = int(named[1]) if named else self.value(event)
            yield (SetToken if kind == "set" else TakeToken)(source, sink, number)
        elif barrier := _BARRIER.match(line):
            yield PipeBarrier(barrier[1])
        elif work := _WORK.match(line):
            kind, inputs, output = work.groups()
            reads = self.addresses(inputs.split(","))
            yield Operation(_PIPE[kind], reads, self.addresses([output]))
        elif value := _VALUE.match(line):
            name, operation, rest = value.groups()
            if operation == "hivm.hir.pointer_cast":
                self.values[name] = self.slot(rest, place)
            else:
                self.values[name] = self.compute(name, operation, rest)
        elif store := re.match(r"memref\.store (%\w+), (%\w+)\[", line):
            self.memory[store[2]] = self.value(store[1])
        elif not line.startswith(("annotation.mark", "return", "scf.yield")):
            raise _unknown(line)

    def addresses(self, names: list[str]) -> tuple[int, ...]:
        """Return where tiles on chip lie; tensors in global memory are not followed."""
        values = (self.values.get(name.strip()) for name in names)
        return tuple(value for value in values if value is not None)

    def value(self, name: str) -> int:
        name = name.strip()
        if name in ("true", "false"):
            return int(name == "true")
        return self.values[name]

    def compute(self, name: str, operation: str, rest: str) -> int:
        operands = [part.strip() for part in rest.split(":")[0].split(",")]
        if operation == "arith.constant":
            word = rest.split()[0]
            return int(word == "true") if word in ("true", "false") else int(word)
        if operation == "affine.apply":
            return self.apply(rest)
        if operation in ("arith.index_cast", "arith.extui", "arith.extsi", "arith.trunci"):
            value = self.value(operands[0].split()[0])
            return value & 1 if rest.endswith("to i1") else value
        if operation == "arith.cmpi":
            kind, left, right = operands[0].split()[0], operands[-2], operands[-1]
            return int(_COMPARISON[kind](self.value(left), self.value(right)))
        if operation == "arith.select":
            chosen = operands[1] if self.value(operands[0]) else operands[2]
            return self.value(chosen)
        if operation in _ARITHMETIC:
            left, right = (self.value(part.split()[0]) for part in operands[:2])
            return _ARITHMETIC[operation](left, right)
        if operation == "memref.alloca":
            self.memory[name] = 0
            return 0
        if operation == "memref.load":
            return self.memory[rest.split("[")[0].strip()]
        raise _unknown(f"{name} = {operation}{rest}")

    def slot(self, rest: str, place: tuple[int, int]) -> int:
        """Return the address that it is the turn of."""
        slots = re.findall(r"%\w+", rest.split(")")[0])
        turn = self.turns[place]
        self.turns[place] += 1
        return self.value(slots[turn % len(slots)])

    def apply(self, rest: str) -> int:
        """Compute an affine map, such as `(d0)[s0] -> ((d0 + s0) mod 2)`."""
        match = _APPLY.match(rest)
        if match is None:
            raise _unknown(rest)
        names, _, body = self.maps[match[1]].partition("->")
        given = [part for group in match.groups()[1:] for part in (group or "").split(",")]
        values = [self.value(part) for part in given if part.strip()]
        scope = dict(zip(re.findall(r"[ds]\d+", names), values, strict=True))
        text = body.replace(" mod ", " % ").replace(" floordiv ", " // ")
        if not re.fullmatch(r"[ds\d\s()+*%/-]+", text):
            raise _unknown(body)
        return int(eval(text, {"__builtins__": {}}, scope))  # only names, numbers and operators


def _unknown(line: str) -> HeadwayError:
    return HeadwayError(Diagnostic(f"a line of HIVM is not known: {line[:200]}"))
