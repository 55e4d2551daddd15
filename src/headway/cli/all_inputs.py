"""What `headway check --all-inputs` and `--certificate` do: a verdict for all inputs.

Exit codes: 0 proved, 3 refuted by inputs that are printed, or undecided.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from headway import terminal
from headway.errors import CheckFailed, Diagnostic, InvalidInput
from headway.ir.expr import Inputs
from headway.prove import Certificate, Gap, Proof, prove, verify
from headway.prove.certificate import from_json
from headway.prove.search import Outcome, search
from headway.sync.program import SyncProgram

UNPROVED = 3
SHOWN = 10


def check_all_inputs(synced: SyncProgram, as_json: bool) -> int:
    """Prove or refute a program; print the verdict and return the exit code."""
    from headway.check import check
    from headway.check.verdict import Verdict
    from headway.cli.files import print_json

    proof = prove(synced)
    if proof.is_complete:
        if as_json:
            print_json(_json("proved", proof, None))
        else:
            terminal.show(f"proved for all inputs: {summary(proof.certificate)}")
        return 0
    wrong: list[Verdict] = []

    def fails(inputs: Inputs) -> bool:
        verdict = check(synced, inputs)
        if verdict.verdict in ("exact", "late"):
            return False
        wrong.append(verdict)
        return True

    outcome = search(synced.program.inputs, fails)
    name = "undecided" if outcome.found is None else "refuted"
    if as_json:
        print_json(_json(name, proof, outcome))
    elif wrong:
        terminal.show(f"refuted with {options(outcome.found or {})}\n{wrong[0]}")
    else:
        terminal.show(_undecided(proof, outcome))
    return UNPROVED


def check_certificate(synced: SyncProgram, name: str, as_json: bool) -> int:
    """Check a certificate; print what is wrong with it and return the exit code."""
    from headway.cli.files import print_json

    certificate = read_certificate(name)
    gaps = verify(synced, certificate)
    if as_json:
        print_json({"verdict": "refused" if gaps else "proved", "gaps": list(map(_gap_json, gaps))})
    elif gaps:
        terminal.show(
            "\n".join(["refused: the certificate does not prove this program", *_listed(gaps)])
        )
    else:
        terminal.show(f"proved for all inputs: {summary(certificate)}")
    return UNPROVED if gaps else 0


def read_certificate(name: str) -> Certificate:
    """Return the certificate in a file. Raise InvalidInput."""
    from headway.cli.files import read_text

    try:
        return from_json(json.loads(read_text(name)))
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidInput(Diagnostic(f"{name} is not JSON: {error}")) from None


def write_certificate(synced: SyncProgram, name: str) -> None:
    """Prove a program and write the certificate. Raise CheckFailed if it cannot be proved."""
    from headway.cli.files import write_text

    proof = prove(synced)
    if not proof.is_complete:
        raise CheckFailed(*(Diagnostic(f"not proved: {gap.reason}", gap.at) for gap in proof.gaps))
    write_text(name, json.dumps(proof.certificate.to_json(), indent=1) + "\n")


def summary(certificate: Certificate) -> str:
    """Return how many dependences are kept by which rule."""
    rules = Counter(entry["rule"] for entry in certificate.dependences)
    parts = ", ".join(f"{count} by {rule}" for rule, count in rules.most_common())
    waits = len(certificate.waits)
    kept = f"{len(certificate.dependences)} dependences are kept" + (f" ({parts})" if parts else "")
    return f"{kept}, {waits} waits ask for the past; none is early, no deadlock"


def options(inputs: Inputs) -> str:
    """Return inputs as arguments of the command line."""
    texts = {n: str(v) if isinstance(v, int) else ",".join(map(str, v)) for n, v in inputs.items()}
    return " ".join(f"--input {name}={text}" for name, text in texts.items()) or "no inputs"


def _undecided(proof: Proof, outcome: Outcome) -> str:
    count = "1 gap" if len(proof.gaps) == 1 else f"{len(proof.gaps)} gaps"
    first = f"undecided: {count} in the proof, and no inputs that go wrong"
    return "\n".join([first, *_listed(proof.gaps), outcome.bounds])


def _listed(gaps: Sequence[Gap]) -> list[str]:
    lines = [str(Diagnostic(gap.reason, gap.at)) for gap in gaps[:SHOWN]]
    return [*lines, f"... and {len(gaps) - SHOWN} more"] if len(gaps) > SHOWN else lines


def _gap_json(gap: Gap) -> dict[str, str]:
    return {"reason": gap.reason, "location": str(gap.at) if gap.at else ""}


def _json(verdict: str, proof: Proof, outcome: Outcome | None) -> dict[str, object]:
    return {
        "verdict": verdict,
        "dependences": len(proof.certificate.dependences),
        "waits": len(proof.certificate.waits),
        "gaps": [_gap_json(gap) for gap in proof.gaps],
        "inputs": outcome.found if outcome else None,
        "tried": outcome.tried if outcome else 0,
        "bounds": outcome.bounds if outcome else "",
    }
