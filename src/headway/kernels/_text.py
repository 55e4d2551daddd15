"""Kernels that are a text with parameters.

`$name` stands for a parameter. What stands between `# tiles of i` and `# end` is repeated for each
tile of an iteration of the loop over `i`, where

- `$tile` is the tile's number in its iteration, for names; nothing if there is one only;
- `$number` is its number among all: i * U + u for tile u of U;
- `$slot` is the slot that it uses: of B slots the one of that number modulo B.

`$fourfold` is four times the slots per tile, for a tile that comes in four chunks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Template

from headway.ir import parse
from headway.ir.program import Program
from headway.kernels._traced import Source
from headway.kernels.kernel import Kernel, Parameter

TILES = Parameter("tiles", 1, "tiles per loop iteration", maximum=64)
BUFFERS = Parameter("buffers", 2, "slots per tile", maximum=64)
STATIC = Parameter("static", 0, "1 makes the usual trip counts constants", minimum=0, maximum=1)
NKI = Parameter("nki", 0, "1 traces the kernel's NKI source", minimum=0, maximum=1)
_BLOCK = re.compile(r"^ *# tiles of (\w+)\n(.*?)^ *# end\n", re.MULTILINE | re.DOTALL)


def text_kernel(
    name: str,
    description: str,
    text: str,
    inputs: Mapping[str, int | list[int]],
    *parameters: Parameter,
    source: Source | None = None,
) -> Kernel:
    """Return the kernel that a text describes; each has the first three parameters above too.

    With a `source` it has the fourth, and is that NKI kernel if it is asked for.
    """

    per_tile = _per_tile(text, inputs)

    def build(tiles: int, buffers: int, static: int, nki: int = 0, **others: int) -> Program:
        if source and nki:
            return source.program(tiles, buffers, inputs, per_tile, static)

        def repeated(block: re.Match[str]) -> str:
            iteration, body = block.groups()
            return "".join(
                Template(body).safe_substitute(
                    tile=u if tiles > 1 else "",
                    number=_number(iteration, u, tiles),
                    slot=_slot(iteration, u, tiles, buffers),
                )
                for u in range(tiles)
            )

        values = {"tiles": tiles, "buffers": buffers, "fourfold": 4 * buffers, **others}
        found = Template(_BLOCK.sub(repeated, text)).substitute(values)
        return parse(_fixed(found, inputs) if static else found, name)

    shape = (TILES, BUFFERS, STATIC, *((NKI,) if source else ()), *parameters)
    return Kernel(name, description, shape, inputs, build, per_tile, source)


def _per_tile(text: str, inputs: Mapping[str, object]) -> frozenset[str]:
    """Return the inputs in the trip counts of loops over tiles, unless they divide themselves."""
    trips = (
        re.findall(rf"^ *(?:loop|while) {iteration} (.*){{$", text[: block.start()], re.MULTILINE)[
            -1
        ]
        for block in _BLOCK.finditer(text)
        for iteration in [block[1]]
    )
    words = {word for trip in trips if "$tiles" not in trip for word in re.findall(r"\w+", trip)}
    return frozenset(words & inputs.keys())


def _fixed(text: str, inputs: Mapping[str, int | list[int]]) -> str:
    """Put the usual values of single numbers in the place of the inputs; lists stay inputs."""
    for name, value in inputs.items():
        if isinstance(value, int):
            text = re.sub(rf"^ *input {name}\n", "", text, flags=re.MULTILINE)
            text = re.sub(rf"^( *loop .*)\b{name}\b", rf"\g<1>{value}", text, flags=re.MULTILINE)
    return text


def _number(iteration: str, tile: int, tiles: int) -> str:
    return iteration if tiles == 1 else f"({iteration} * {tiles} + {tile})"


def _slot(iteration: str, tile: int, tiles: int, buffers: int) -> str:
    if tiles % buffers == 0:
        return str(tile % buffers)  # the same in every iteration
    return f"{_number(iteration, tile, tiles)} % {buffers}"
