"""Random NKI kernels: nested loops over tiles that live inside, outside and across them."""

from __future__ import annotations

from random import Random


class Writer:
    """Writes a random kernel: nested loops over tiles that live inside, outside and across them."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines = ["import nki.isa as nisa", "import nki.language as nl", "", ""]
        self.lines += ["def kernel(x):", "    tiles = []"]
        self.count = 0
        self.body(1, (), ["a"])

    def put(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def body(self, depth: int, loops: tuple[str, ...], tiles: list[str]) -> None:
        if depth == 1:
            self.put(depth, "a = nl.zeros((8, 12), dtype=nl.float32, buffer=nl.sbuf)")
            self.put(depth, "h = nl.ndarray((128, 12), dtype=nl.float32, buffer=nl.shared_hbm)")
            self.put(depth, "nl.store(h, value=0.0)")
        tiles = list(tiles)
        for _ in range(self.random.randint(2, 4)):
            if depth < 4 and self.random.random() < 0.5:
                self.loop(depth, loops, tiles)
            else:
                self.statement(depth, loops, tiles)

    def loop(self, depth: int, loops: tuple[str, ...], tiles: list[str]) -> None:
        name = "ijk"[depth - 1]
        bound = self.random.choice(["2", "3", "4", *(f"{v} + 1" for v in loops)])
        self.put(depth, f"for {name} in range({bound}):")
        self.body(depth + 1, (*loops, name), tiles)

    def statement(self, depth: int, loops: tuple[str, ...], tiles: list[str]) -> None:
        old = self.random.choice(tiles)
        index = self.random.choice([*loops, "1", *(f"{v} % 2" for v in loops)])
        new = f"t{self.count}"
        lines = {
            f"{new} = nl.load(x[({index}) * 2 : ({index}) * 2 + 8, :])": new,
            f"{new} = nl.add({old}, 1.0)": new,
            f"{old} = nl.exp({old})": "",
            f"a[:, ({index}) : ({index}) + 1] = nl.sum({old}, axis=1, keepdims=True)": "",
            f"nl.store(h[({index}) * 8 : ({index}) * 8 + 8, :], value={old})": "",
            f"nl.store(h[({index}) * 2 : ({index}) * 2 + 8, :], value={old})": "",
            f"{new} = nl.load(h[({index}) : ({index}) + 8, :])": new,
            f"tiles.append({old})": "",
            f"nisa.tensor_copy({old}, tiles[-1 - len(tiles) // 2] if tiles else a)": "",
        }
        line = self.random.choice(list(lines))
        self.count += 1
        self.put(depth, line)
        if lines[line]:
            tiles.append(lines[line])
