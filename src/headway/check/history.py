"""What a run has done before some point of it, for the notes of findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from headway.check.findings import times
from headway.check.narrow import signalled, signalling
from headway.check.needs import Need
from headway.check.verdict import Finding
from headway.ir.program import Instr
from headway.spec import Instance, Signals
from headway.spec.signals import is_silent
from headway.sync.expand import Event
from headway.sync.program import Flag, SyncProgram


class History:
    """A run: its instances in sequential order, and the events of each engine."""

    def __init__(
        self, sync: SyncProgram, needs: Sequence[Need], events: Mapping[str, Sequence[Event]]
    ) -> None:
        self.signals = Signals.of(need.instance for need in needs)
        self.needs = {str(n.instance): n for n in needs if isinstance(n.instance.node, Instr)}
        self._all = needs
        self._events = events
        self._counters = signalling(sync.program)
        self._on: dict[str, list[Instance]] = {}
        for need in needs:
            self._on.setdefault(need.instance.counter, []).append(need.instance)

    def required(self, need: Need, counter: str) -> Instance:
        """Return the last instance of a counter that an instance depends on."""
        return self._on[counter][need.required[counter] - 1]

    def is_shown(self, counter: str, position: int) -> bool:
        """Tell whether a signal shows a completion: a silent one needs another behind it."""
        return self.signals.cover(counter, position) <= len(self._on[counter])

    def barriers(self) -> dict[str, int]:
        """Return how many barriers each engine runs."""
        return {e: sum(x.kind == "barrier" for x in run) for e, run in self._events.items()}

    def before(self, need: Need, finding: Finding) -> tuple[int, int]:
        """Return the signals before the last barrier in front of a wait, and its threshold."""
        barriers = 0
        for event in self._events[need.instance.engine]:
            barriers += event.kind == "barrier"
            if str(event) == finding.instance:
                waits = [w for w in event.waits if str(w.wait) == finding.wait]
                written = waits[0].threshold if waits else finding.threshold
                return self._given(finding.counter, barriers), written
        return 0, finding.threshold

    def _given(self, counter: str, barriers: int) -> int:
        """Return how many signals come before so many barriers of the engine that gives them."""
        if counter not in self._on:
            return 0
        host = self._on[counter][0].engine
        found = 0
        for event in self._events[host]:
            if barriers <= 0:
                return found
            barriers -= event.kind == "barrier"
            found += signalled(host, event, self._counters) == counter
        return 0 if barriers > 0 else found

    def told_by(self, counter: str, base: int, number: int) -> Iterator[str]:
        """Yield of which instructions the signals are, if they are not all of one."""
        first = self.signals.position(counter, base) if base else 0
        row = self._on[counter][first : self.signals.position(counter, number)]
        counts = Counter(instance.node.name for instance in row if not is_silent(instance))
        if len(counts) > 1:
            shares = ", ".join(f"{count} of {name}" for name, count in counts.items())
            yield f"the signals of {counter} until then: {shares}"

    def depends(self, instance: Instance, counter: str) -> bool:
        """Tell whether some instance of the same instruction depends on a counter."""
        name = instance.node.name
        same = (need for need in self._all if need.instance.node.name == name)
        return any(need.required.get(counter) for need in same)

    def depends_later(self, need: Need, counter: str, number: int) -> Instance | None:
        """Return the next instance of the same engine that depends on a signal or a later one."""
        position = self.signals.position(counter, number)
        for other in self._all[need.number + 1 :]:
            is_same = other.instance.engine == need.instance.engine
            if is_same and other.required.get(counter, 0) >= position:
                return other.instance
        return None

    def tokens(self, flag: Flag) -> str:
        """Return how often a flag is set and taken in the whole run."""
        events = [event for run in self._events.values() for event in run]
        done = sum(event.kind == "set" and event.name == flag.name for event in events)
        taken = sum(wait.counter == flag.name for event in events for wait in event.waits)
        ends = f"and {flag.engine} takes it {times(taken)}"
        return f"in this run {flag.name} is set {times(done)}, {ends}"
