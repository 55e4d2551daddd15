"""What helps with a finding: through which memory instances depend, and which wait is to blame.

In     a verdict, and the program that it is about
Out    the same verdict; the first findings of each kind have a note, and a way out that fits.
       Runs that are too long to be looked at twice are left as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from headway.check import findings
from headway.check.history import History
from headway.check.narrow import wrapping
from headway.check.needs import Need, reference
from headway.check.schedule import MOST
from headway.check.verdict import Finding, Verdict
from headway.errors import OverLimit
from headway.ir.expr import Inputs
from headway.spec import Instance
from headway.sync.expand import expand
from headway.sync.program import Flag, SyncProgram

OTHERS = "leave this wait, and correct what the others wait for"
LIMIT = 20_000
"""Instances, events and iterations of a run that is looked at again."""


def with_advice(verdict: Verdict, sync: SyncProgram, inputs: Inputs) -> Verdict:
    """Add notes to the first findings."""
    kinds = Counter[str]()
    shown: list[int] = []
    for number, finding in enumerate(verdict.findings):
        kinds[finding.kind] += 1
        if kinds[finding.kind] <= MOST:
            shown.append(number)
    if not shown:
        return verdict
    try:
        advice = _Advice(sync, inputs)
    except OverLimit:
        return verdict
    found = list(verdict.findings)
    for number in shown:
        found[number] = advice.on(found[number])
    return replace(verdict, findings=tuple(found))


class _Advice:
    def __init__(self, sync: SyncProgram, inputs: Inputs) -> None:
        needs = reference(sync, inputs, LIMIT)
        events = expand(sync, inputs, LIMIT)
        self._sync = sync
        self._past = History(sync, needs, events)
        self._flags = {flag.name: flag for flag in sync.flags}
        self._wrapping = wrapping(sync, events)
        self._hosts = {queue.name: queue.host for queue in sync.program.queues}

    def on(self, finding: Finding) -> Finding:
        """Return a finding with what helps."""
        if finding.wait == "barrier":
            return finding if finding.kind == "late" else replace(finding, note=self._barriers())
        need = self._past.needs.get(finding.instance)
        flag = self._flags.get(finding.wait.removeprefix("take "))
        if finding.kind == "unsupported":
            return replace(finding, note=self._past.tokens(flag)) if flag else finding
        if finding.kind == "deadlock" and flag:
            return self._token(need, finding, flag)
        if need is None:
            return finding
        if finding.kind == "early":
            return self._early(need, finding)
        if finding.kind == "late":
            return self._late(need, finding)
        is_general = finding.help in (findings.TOO_FEW, findings.EACH_OTHER)
        return self._blamed(need, finding) if is_general else finding

    def _barriers(self) -> str:
        """Return how many barriers each engine runs, where that is not the same."""
        counts = self._past.barriers()
        if len(set(counts.values())) == 1:
            return ""
        return "barriers in this run: " + ", ".join(f"{e} {n}" for e, n in counts.items())

    # Early

    def _early(self, need: Need, finding: Finding) -> Finding:
        """Tell through which memory it depends, and what the wait has to be."""
        q, before = finding.counter, self._past.required(need, finding.counter)
        notes = [self._through(need.instance, before)]
        if not self._past.is_shown(q, need.required[q]):
            notes.append(f"{before} is silent, and no instance of {q} behind it signals")
            way_out = f"let {before.node.name} signal, or one behind it on {q}, and wait for that"
            return self._with(finding, notes, way_out)
        base, written = self._past.before(need, finding)
        required = finding.required - base
        notes += self._reset(q, base)
        if q in self._wrapping:
            notes += self._cut(q, required, self._wrapping[q].value(required))
            return self._with(finding, notes, findings.room(self._wrapping[q]))
        if finding.wait.startswith("take "):
            return self._with(
                finding,
                notes,
                f"set {finding.wait.removeprefix('take ')} behind {before}, and take it here",
            )
        if finding.wait:
            notes += self._past.told_by(q, base, finding.required)
            way_out = f"raise the threshold by {required - written} at this point, to {required}"
            return self._with(finding, notes, way_out)
        way_out = f"wait for {q} >= {required} at this point"
        for flag in self._flags.values():
            if flag.engine != need.instance.engine:
                continue
            if flag.counter == q:
                way_out = f"take {flag.name} at this point, as often as it is set, or {way_out}"
                break
            if flag.counter == self._hosts.get(q):
                notes.append(f"{flag.name} tells what {flag.counter} itself has done, not {q}")
                way_out = f"let {flag.name} come from {q}"
        return self._with(finding, notes, way_out)

    def _through(self, instance: Instance, before: Instance) -> str:
        """Return through which memory an instance depends on the one that it must wait for."""
        for cell in instance.reads:
            if cell in before.writes:
                return f"{instance} reads {cell.buffer}[{cell.slot}], which {before} writes"
        for cell in instance.writes:
            for did, cells in (("reads", before.reads), ("writes", before.writes)):
                if cell in cells:
                    return f"{instance} writes {cell.buffer}[{cell.slot}], which {before} {did}"
        return ""

    # Late

    def _late(self, need: Need, finding: Finding) -> Finding:
        """Tell what a wait for nothing is good for elsewhere."""
        if finding.help != findings.NOT_HERE:
            return finding
        instance, q = need.instance, finding.counter
        if self._past.depends(instance, q):
            by = finding.threshold - self._past.before(need, finding)[0]
            way_out = f"lower the threshold by {by} here: a wait for 0 is none"
            return replace(finding, help=way_out)
        later = self._past.depends_later(need, q, finding.threshold)
        way_out = f"move the wait to {later}, which depends on it" if later else "remove the wait"
        note = f"no {instance.node.name} depends on {q} in this run"
        return replace(finding, note=note, help=way_out)

    # Deadlock

    def _blamed(self, need: Need, finding: Finding) -> Finding:
        """Tell whether a wait that stands for ever asks for more than its instance requires."""
        instance, q = need.instance, finding.counter
        base, written = self._past.before(need, finding)
        required = self._past.signals.number(q, need.required.get(q, 0)) - base
        cut = list(self._cut(q, written, finding.threshold))
        notes = [*cut, *self._reset(q, base)]
        way_out = finding.help
        if finding.threshold <= required:
            return self._with(finding, [*notes, f"{instance} does depend on it"], OTHERS)
        if required > 0:
            notes.append(f"{instance} requires only {q} >= {required}")
            way_out = f"lower the threshold by {finding.threshold - required}"
        else:
            notes.append(f"{instance} does not depend on {q}" + " behind that" * bool(base))
            way_out = "remove the wait, or lower its threshold to 0 here"
            for other, position in need.required.items():
                if position and self._hosts.get(other) == q:
                    notes.append(f"it depends on signal {position} of {other}, which {q} triggers")
                    way_out = f"wait for {other} >= {position} instead"
        if cut and written < 0:
            way_out = f"declare the semaphore of {q} signed, or do not wait where it is below 0"
        return self._with(finding, notes, way_out)

    def _token(self, need: Need | None, finding: Finding, flag: Flag) -> Finding:
        """Tell whether an instance depends on what a token tells that has not been set yet."""
        if finding.help.startswith("set the flag as often"):
            return replace(finding, note=self._past.tokens(flag))
        if need is None:
            is_end = finding.instance == "end"
            return replace(finding, help=OTHERS) if is_end else finding
        if need.required.get(flag.counter, 0) == 0:
            return replace(finding, note=f"{need.instance} does not depend on {flag.counter}")
        return replace(finding, note=f"{need.instance} does depend on it", help=OTHERS)

    def _reset(self, counter: str, base: int) -> Iterator[str]:
        if base:
            yield f"a barrier has set {counter} to 0, after signal {base}"

    def _cut(self, counter: str, written: int, compared: int) -> Iterator[str]:
        for semaphore in self._sync.semaphores:
            if semaphore.counter == counter and written != compared:
                sign = "a sign" if semaphore.is_signed else "no sign"
                yield (
                    f"the threshold is {written}, and the semaphore of {counter} has"
                    f" {semaphore.width} bits and {sign}: {compared} is compared"
                )

    def _with(self, finding: Finding, notes: list[str], way_out: str) -> Finding:
        return replace(finding, note="; ".join(filter(None, notes)), help=way_out)
