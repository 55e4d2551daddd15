"""What `headway check --all-inputs` and `--certificate` do: a verdict for all inputs.

Exit codes: 0 proved, 3 refuted by inputs that are printed, or undecided. Whether a wait is late for
some inputs is said too, and does not change the exit code.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from headway import terminal
from headway.certify import Attempt, Certificate, Gap, certify, from_json, verify
from headway.certify.search import Outcome, search, where_semaphores_wrap
from headway.cli.codes import CHECK_FAILED
from headway.errors import CheckFailed, Diagnostic, InvalidInput
from headway.ir.expr import Inputs
from headway.sync.program import SyncProgram

if TYPE_CHECKING:
    from headway.check.verdict import Verdict

SHOWN = 10


def check_all_inputs(synced: SyncProgram, as_json: bool) -> int:
    """Prove or refute a program; print the verdict and return the exit code."""
    from headway.check import check
    from headway.cli.files import print_json

    proof = certify(synced)
    wrong: list[Verdict] = []

    def fails(inputs: Inputs) -> bool:
        verdict = check(synced, inputs)
        if verdict.verdict == "exact" or (verdict.verdict == "late" and not proof.is_complete):
            return False
        wrong.append(verdict)
        return True

    beyond = where_semaphores_wrap(synced.semaphores)
    if proof.is_complete:
        late = search(synced.program.inputs, fails, beyond) if proof.late else None
        if as_json:
            print_json(_json("proved", proof, None) | _lateness_json(proof.late, late))
        else:
            terminal.show(f"proved for all inputs: {summary(proof.certificate)}")
            terminal.show(_lateness(proof.late, late, wrong))
        return 0
    outcome = search(synced.program.inputs, fails, beyond)
    name = "undecided" if outcome.found is None else "refuted"
    if as_json:
        print_json(_json(name, proof, outcome))
    elif wrong:
        terminal.show(f"refuted with {options(outcome.found or {})}\n{wrong[0]}")
    else:
        terminal.show(_undecided(proof, outcome))
    return CHECK_FAILED


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
    return CHECK_FAILED if gaps else 0


def read_certificate(name: str) -> Certificate:
    """Return the certificate in a file. Raise InvalidInput."""
    from headway.cli.files import read_text

    try:
        return from_json(json.loads(read_text(name)))
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidInput(
            Diagnostic(
                f"{name} is not JSON: {error}",
                help="headway sync PROGRAM --certificate FILE writes a certificate",
            )
        ) from None


def write_certificate(synced: SyncProgram, name: str) -> None:
    """Prove a program and write the certificate. Raise CheckFailed if it cannot be proved."""
    from headway.cli.files import write_text

    proof = certify(synced)
    if not proof.is_complete:
        raise CheckFailed(*(Diagnostic(f"not proved: {gap.reason}", gap.at) for gap in proof.gaps))
    write_text(name, json.dumps(proof.certificate.to_json(), indent=1) + "\n")


def summary(certificate: Certificate) -> str:
    """Return how many dependences are kept by which rule."""
    dependences, waits = certificate.dependences, certificate.waits
    rules = Counter(entry["rule"] for entry in dependences)
    parts = ", ".join(f"{count} by {rule}" for rule, count in rules.most_common())
    kept = f"{len(dependences)} dependences are kept" + (f" ({parts})" if parts else "")
    return f"{kept}, {len(waits)} waits ask for the past; none is early, no deadlock"


def options(inputs: Inputs) -> str:
    """Return inputs as arguments of the command line."""
    texts = {n: str(v) if isinstance(v, int) else ",".join(map(str, v)) for n, v in inputs.items()}
    return " ".join(f"--input {name}={text}" for name, text in texts.items()) or "no inputs"


def _lateness(gaps: Sequence[Gap], late: Outcome | None, wrong: Sequence[Verdict]) -> str:
    """Say whether a wait is late for some inputs."""
    if late is None:
        return "no wait is late, for any inputs"
    if late.found is not None:
        return f"late with {options(late.found)}: {wrong[0].findings[0].message}"
    count = "1 gap" if len(gaps) == 1 else f"{len(gaps)} gaps"
    first = f"late is undecided: {count} in the proof, and no inputs with which a wait is late"
    return "\n".join([first, *_listed(gaps), late.bounds])


def _lateness_json(gaps: Sequence[Gap], late: Outcome | None) -> dict[str, object]:
    verdict = "undecided" if late else "never"
    return {
        "late": "sometimes" if late and late.found is not None else verdict,
        "late_gaps": [_gap_json(gap) for gap in gaps],
        "late_inputs": late.found if late else None,
        "tried": late.tried if late else 0,
        "bounds": late.bounds if late else "",
    }


def _undecided(proof: Attempt, outcome: Outcome) -> str:
    count = "1 gap" if len(proof.gaps) == 1 else f"{len(proof.gaps)} gaps"
    first = f"undecided: {count} in the proof, and no inputs that go wrong"
    return "\n".join([first, *_listed(proof.gaps), outcome.bounds])


def _listed(gaps: Sequence[Gap]) -> list[str]:
    lines = [str(Diagnostic(gap.reason, gap.at)) for gap in gaps[:SHOWN]]
    return [*lines, f"... and {len(gaps) - SHOWN} more"] if len(gaps) > SHOWN else lines


def _gap_json(gap: Gap) -> dict[str, str]:
    return {"reason": gap.reason, "location": str(gap.at) if gap.at else ""}


def _json(verdict: str, proof: Attempt, outcome: Outcome | None) -> dict[str, object]:
    return {
        "verdict": verdict,
        "dependences": len(proof.certificate.dependences),
        "waits": len(proof.certificate.waits),
        "gaps": [_gap_json(gap) for gap in proof.gaps],
        "inputs": outcome.found if outcome else None,
        "tried": outcome.tried if outcome else 0,
        "bounds": outcome.bounds if outcome else "",
    }
