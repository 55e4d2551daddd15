"""How many signals a piece of a sequential program gives: an upper bound, from the code alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import inf

from headway.ir.program import If, Instr, Loop, Node, Program, control_counter


class Signals:
    """What fits into an epoch in which each of `counters` gives at most `most` signals.

    Every engine is taken to load every control value.
    """

    def __init__(self, program: Program, counters: Iterable[str], most: int) -> None:
        self._counters = frozenset(counters)
        self._most = most
        self._controls = [control_counter(engine) for engine in program.hosts]

    def fit(self, nodes: tuple[Node, ...]) -> bool:
        """Tell whether nodes fit into one epoch, whatever the inputs are."""
        return max(self._of(nodes).values(), default=0) <= self._most

    def repetitions(self, nodes: tuple[Node, ...]) -> int:
        """Return how often nodes that fit may be run in one epoch: at least once."""
        return self._most // int(max(self._of(nodes).values(), default=1))

    def _of(self, nodes: tuple[Node, ...]) -> Counter[str]:
        found: Counter[str] = Counter()
        for node in nodes:
            found.update(self._of_node(node))
        return found

    def _of_node(self, node: Node) -> Counter[str]:
        if isinstance(node, Instr):
            is_counted = node.counter in self._counters and not node.silent
            return Counter({node.counter: 1} if is_counted else {})
        if isinstance(node, If):
            inside = self._of(node.then) | self._of(node.orelse)  # the larger of each
        else:
            times = node.trip if isinstance(node, Loop) and isinstance(node.trip, int) else inf
            body = self._of(node.body)
            inside = Counter({q: count * times for q, count in body.items() if times})
        if node.control:
            inside.update(q for q in self._controls if q in self._counters)
            if not isinstance(node, Loop | If):
                inside = Counter(dict.fromkeys(inside, inf))  # a while loads before every test
        return inside
