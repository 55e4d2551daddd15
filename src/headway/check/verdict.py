"""What the judge says: one verdict, and findings that point at waits and instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from headway.errors import CheckFailed, Diagnostic, Location, Note, counted

LAST_EVENTS = 12
"""How many events of a schedule are printed."""

Kind = Literal["early", "late", "deadlock", "unsupported"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where the synchronization is not exact.

    `threshold` is what the program waits for on `counter` (0 = no wait), `required` what it must
    wait for; both count all signals since the program began, through barriers. `note` says what
    helps, see `headway.check.advice`; `schedule` is an order of events that shows what is early,
    see `headway.check.schedule`. The first finding of each kind has the `rule` that is broken.
    """

    kind: Kind
    instance: str
    wait: str
    counter: str
    threshold: int
    required: int
    message: str
    at: Location | None = None
    help: str = ""
    schedule: tuple[str, ...] = ()
    note: str = ""
    rule: str = ""

    def __str__(self) -> str:
        return str(self.diagnostic())

    def diagnostic(self) -> Diagnostic:
        """Return the finding as an error text."""
        texts = [self.note] if self.note else []
        texts += [shown_schedule(self.schedule)] if self.schedule else []
        notes = tuple(map(Note, texts))
        message = f"{self.kind}: {self.message}"
        return Diagnostic(message, self.at, notes, self.rule, self.help)

    def to_json(self) -> dict[str, object]:
        """Return the finding with its place as text."""
        fields: dict[str, object] = asdict(self)
        del fields["at"]
        for name in ("schedule", "note", "rule"):
            if not fields[name]:
                del fields[name]
        fields["location"] = str(self.at) if self.at else ""
        return fields


def shown_schedule(schedule: Sequence[str]) -> str:
    """Return a schedule on one line, a long one from near its end."""
    hidden = len(schedule) - LAST_EVENTS
    begin = f", after {counted(hidden, 'other event')}" if hidden > 0 else ""
    return f"an order that shows it{begin}: {', '.join(schedule[-LAST_EVENTS:])}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`exact`, or the worst kind of finding. `more` findings beyond those listed were dropped."""

    verdict: Literal["exact", "early", "late", "deadlock", "unsupported"]
    findings: tuple[Finding, ...] = ()
    more: int = 0
    instances: int = 0
    waits: int = 0

    def __str__(self) -> str:
        if self.verdict == "exact":
            return (
                f"exact: {counted(self.instances, 'instance')}, {counted(self.waits, 'wait')};"
                " none is early, none late, no deadlock"
            )
        count = len(self.findings) + self.more
        lines = [f"{self.verdict}: {counted(count, 'finding')}"]
        lines += map(str, self.findings)
        return "\n".join(lines + ([f"... and {self.more} more"] if self.more else []))

    def _repr_html_(self) -> str:
        """Show the verdict in a notebook: its colour, and the findings."""
        from headway import html

        word, _, rest = str(self).partition(": ")
        first, _, findings = rest.partition("\n")
        shown = html.verdict(word, word == "exact", first)
        return shown + (html.program(findings) if findings else "")

    def to_json(self) -> dict[str, object]:
        """Return the verdict as in the documented JSON form."""
        return {
            "verdict": self.verdict,
            "findings": [finding.to_json() for finding in self.findings],
            "more": self.more,
            "instances": self.instances,
            "waits": self.waits,
        }

    def raise_for_failure(self) -> None:
        """Raise CheckFailed unless the verdict is `exact`."""
        if self.verdict != "exact":
            raise CheckFailed(*(finding.diagnostic() for finding in self.findings))


ORDER: Sequence[Kind] = ("unsupported", "early", "deadlock", "late")
MAX_FINDINGS = 50
RULES: Mapping[Kind, str] = {
    "unsupported": "an engine issues its instances in the order of the program, and leaves no token"
    " (docs/checking.md)",
    "early": "an instance waits for all that it conflicts with (docs/model.md#dependences)",
    "deadlock": "what an engine waits for has to come while it stands still (docs/checking.md)",
    "late": "an instance waits for nothing that it does not require (docs/checking.md)",
}


def verdict(findings: Sequence[Finding], instances: int, waits: int) -> Verdict:
    """Sum up: the worst kind decides, worst findings first, at most `MAX_FINDINGS` are listed."""
    worst = [finding for kind in ORDER for finding in findings if finding.kind == kind]
    if not worst:
        return Verdict("exact", instances=instances, waits=waits)
    more = max(0, len(worst) - MAX_FINDINGS)
    shown = worst[:MAX_FINDINGS]
    for kind in ORDER:
        first = next((n for n, finding in enumerate(shown) if finding.kind == kind), None)
        if first is not None:
            shown[first] = replace(shown[first], rule=RULES[kind])
    return Verdict(worst[0].kind, tuple(shown), more, instances, waits)
