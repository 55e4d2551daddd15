"""What helps with a finding: through which memory instances depend, and which wait is to blame.

In     a verdict, and the program that it is about
Out    the same verdict; its first early findings and deadlocks have a note, and a way out that
       fits. Runs that are too long to be looked at twice are left as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from headway.check.narrow import signalled, signalling
from headway.check.needs import Need, reference
from headway.check.schedule import MOST, named
from headway.check.verdict import Finding, Verdict
from headway.errors import OverLimit
from headway.ir.expr import Inputs
from headway.ir.program import Instr
from headway.spec import Instance, Signals
from headway.sync.expand import expand
from headway.sync.program import SyncProgram

OTHERS = "leave this wait, and correct what the others wait for"
LIMIT = 20_000
"""Instances, events and iterations of a run that is looked at again."""


def with_advice(verdict: Verdict, sync: SyncProgram, inputs: Inputs) -> Verdict:
    """Add notes to the first findings."""
    kinds = Counter[str]()
    shown: list[int] = []
    for number, finding in enumerate(verdict.findings):
        kinds[finding.kind] += 1
        if finding.kind in ("early", "deadlock") and kinds[finding.kind] <= MOST:
            shown.append(number)
    if not shown:
        return verdict
    try:
        run = _Run(sync, inputs)
    except OverLimit:
        return verdict
    findings = list(verdict.findings)
    for number in shown:
        findings[number] = run.advised(findings[number])
    return replace(verdict, findings=tuple(findings))


class _Run:
    def __init__(self, sync: SyncProgram, inputs: Inputs) -> None:
        needs = reference(sync, inputs, LIMIT)
        self._events = expand(sync, inputs, LIMIT)
        self._sync = sync
        self._counters = signalling(sync.program)
        self._flags = {flag.name: flag.counter for flag in sync.flags}
        self._signals = Signals.of(need.instance for need in needs)
        self._needs = {str(n.instance): n for n in needs if isinstance(n.instance.node, Instr)}
        self._on: dict[str, list[Instance]] = {}
        for need in needs:
            self._on.setdefault(need.instance.counter, []).append(need.instance)

    def advised(self, finding: Finding) -> Finding:
        """Return a finding with what helps."""
        need = self._needs.get(finding.instance)
        if finding.kind == "early":
            return finding if need is None else replace(finding, note=self._through(need, finding))
        if finding.wait == "barrier":
            counts = self._barriers()
            way_out = finding.help if counts else "the others stand at waits before it: see there"
            return replace(finding, note=counts, help=way_out)
        if need and finding.wait and finding.counter in self._flags:
            return self._primed(need, finding)
        is_general = finding.help.startswith("lower the threshold, or")
        if need is None or not is_general or finding.counter not in self._on:
            return finding
        return self._blamed(need, finding)

    def _through(self, need: Need, finding: Finding) -> str:
        """Return through which memory an instance depends on the one that it must wait for."""
        instance, q = need.instance, finding.counter
        before = self._on[q][need.required[q] - 1]
        for cell in instance.reads:
            if cell in before.writes:
                return f"{instance} reads {cell.buffer}[{cell.slot}], which {before} writes"
        for cell in instance.writes:
            for did, cells in (("reads", before.reads), ("writes", before.writes)):
                if cell in cells:
                    return f"{instance} writes {cell.buffer}[{cell.slot}], which {before} {did}"
        return ""

    def _barriers(self) -> str:
        """Return how many barriers each engine runs, where that is not the same."""
        counts = {e: sum(x.kind == "barrier" for x in run) for e, run in self._events.items()}
        if len(set(counts.values())) == 1:
            return ""
        return "barriers in this run: " + ", ".join(f"{e} {n}" for e, n in counts.items())

    def _blamed(self, need: Need, finding: Finding) -> Finding:
        """Tell whether a wait that stands for ever asks for more than its instance requires."""
        instance, q = need.instance, finding.counter
        base, written = self._before(need, finding)
        required = self._signals.number(q, need.required.get(q, 0)) - base
        notes = list(self._cut(q, written, finding.threshold))
        if base:
            notes.append(f"a barrier has set {q} to 0, after signal {base}")
        way_out = finding.help
        if finding.threshold <= required:
            notes.append(f"{instance} does depend on it")
            way_out = OTHERS
        elif required > 0:
            notes.append(f"{instance} requires only {q} >= {required}")
            way_out = f"lower the threshold by {finding.threshold - required}"
        else:
            notes.append(f"{instance} does not depend on {q}" + " behind that" * bool(base))
            way_out = "remove the wait, or lower its threshold to 0 here"
        return replace(finding, note="; ".join(notes), help=way_out)

    def _primed(self, need: Need, finding: Finding) -> Finding:
        """Tell whether an instance depends on what a token tells that has not been set yet."""
        counter = self._flags[finding.counter]
        if need.required.get(counter, 0) == 0:
            return replace(finding, note=f"{need.instance} does not depend on {counter}")
        is_short = finding.help.startswith("set the flag as often")
        note = f"{need.instance} does depend on it"
        return finding if is_short else replace(finding, note=note, help=OTHERS)

    def _before(self, need: Need, finding: Finding) -> tuple[int, int]:
        """Return the signals before the last barrier in front of a wait, and its threshold."""
        instance, barriers = need.instance, 0
        for event in self._events[instance.engine]:
            barriers += event.kind == "barrier"
            if named(event) == finding.instance:
                waits = [w for w in event.waits if str(w.wait) == finding.wait]
                written = waits[0].threshold if waits else finding.threshold
                return self._given(finding.counter, barriers), written
        return 0, finding.threshold

    def _given(self, counter: str, barriers: int) -> int:
        """Return how many signals come before so many barriers of the engine that gives them."""
        host = self._on[counter][0].engine
        found = 0
        for event in self._events[host]:
            if barriers <= 0:
                return found
            barriers -= event.kind == "barrier"
            found += signalled(host, event, self._counters) == counter
        return 0 if barriers > 0 else found

    def _cut(self, counter: str, written: int, compared: int) -> Iterator[str]:
        for cell in self._sync.semaphores:
            if cell.counter == counter and written != compared:
                sign = "a sign" if cell.is_signed else "no sign"
                yield (
                    f"the threshold is {written}, and the semaphore of {counter} has {cell.width}"
                    f" bits and {sign}: {compared} is compared"
                )
