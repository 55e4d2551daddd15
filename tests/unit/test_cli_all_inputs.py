"""`headway check --all-inputs`, `--certificate`, and `headway sync --certificate`."""

import json
from pathlib import Path

import pytest
from command_line import Cli

SYNC = ("sync", "sync-chain", "--param", "engines=2", "--target", "generic")


@pytest.fixture
def synced(cli: Cli) -> str:
    return cli(*SYNC).out


def without_wait(text: str) -> str:
    """Return the program without the wait of `step1`."""
    lines = text.splitlines(keepends=True)
    return "".join(x.split(" waits")[0] + "\n" if "step1 waits" in x else x for x in lines)


def test_a_program_is_proved_for_all_inputs(cli: Cli, synced: str) -> None:
    result = cli("check", "-", "--all-inputs", stdin=synced)
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "proved for all inputs: 3 dependences are kept (2 by b-wait, 1 by a-order), "
        "2 waits ask for the past; none is early, no deadlock\n"
        "no wait is late, for any inputs\n"
    )


def test_waits_that_are_late_for_some_inputs_are_told_with_them(cli: Cli, synced: str) -> None:
    late = synced.replace("vector >= shadow.vector - 1", "vector >= shadow.vector")
    result = cli("check", "-", "--all-inputs", stdin=late)
    assert result.code == 0
    assert result.out.splitlines()[1] == (
        "late with --input n=2: step0[1] on scalar waits for signal 1 of vector and does not"
        " depend on vector here"
    )
    found = json.loads(cli("check", "-", "--all-inputs", "--json", stdin=late).out)
    assert (found["verdict"], found["late"], found["late_inputs"]) == (
        "proved",
        "sometimes",
        {"n": 2},
    )


def test_whether_flags_are_late_is_undecided(cli: Cli) -> None:
    text = cli(*SYNC, "--strategy", "flags").out
    result = cli("check", "-", "--all-inputs", stdin=text)
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0].startswith("proved for all inputs: ")
    assert lines[1].startswith("late is undecided: ")
    assert lines[-1] == "4 inputs tried: all of numbers 0 to 3"


def test_a_wrong_program_is_refuted_by_inputs_that_are_printed(cli: Cli, synced: str) -> None:
    result = cli("check", "-", "--all-inputs", stdin=without_wait(synced))
    assert result.code == 3
    assert result.out.startswith("refuted with --input n=1\nearly: 1 finding\n")


def test_what_is_neither_proved_nor_refuted_says_what_was_tried(cli: Cli) -> None:
    text = cli(*SYNC, "--limit", "width=4").out
    result = cli("check", "-", "--all-inputs", stdin=text)
    assert result.code == 3
    assert result.out.startswith("undecided: 1 gap in the proof, and no inputs that go wrong\n")
    assert result.out.endswith("7 inputs tried: all of numbers 0 to 3, and 7, 8, 9\n")


def test_inputs_with_which_a_semaphore_wraps_are_tried(cli: Cli) -> None:
    passes = ("--passes", "assign-semaphores,settle-thresholds")
    text = cli(*SYNC, "--limit", "width=4", "--limit", "signed=0", *passes).out
    result = cli("check", "-", "--all-inputs", stdin=text)
    assert result.code == 3
    assert result.out.startswith("refuted with --input n=16\nearly: ")


def test_json_has_the_verdict_and_the_inputs(cli: Cli, synced: str) -> None:
    result = cli("check", "-", "--all-inputs", "--json", stdin=without_wait(synced))
    found = json.loads(result.out)
    assert (found["verdict"], found["inputs"]) == ("refuted", {"n": 1})
    reason = "step1 on vector may come before an earlier write scalar b0.0"
    assert found["gaps"][0]["reason"] == reason


def test_a_certificate_is_written_and_checked(cli: Cli, synced: str, tmp_path: Path) -> None:
    proof = str(tmp_path / "proof.json")
    assert cli(*SYNC, "--certificate", proof).out == synced
    result = cli("check", "-", "--certificate", proof, stdin=synced)
    assert result.code == 0
    assert result.out.startswith("proved for all inputs: 3 dependences are kept")
    refused = cli("check", "-", "--certificate", proof, stdin=without_wait(synced))
    assert refused.code == 3
    assert refused.out.startswith("refused: the certificate does not prove this program\n")


def test_what_cannot_be_proved_gets_no_certificate(cli: Cli, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    result = cli(*SYNC, "--limit", "width=4", "--certificate", str(proof))
    assert result.code == 3
    assert "not proved: the semaphore of " in result.err
    assert not proof.exists()


def test_a_file_that_is_no_certificate_is_an_invalid_input(
    cli: Cli, synced: str, tmp_path: Path
) -> None:
    proof = tmp_path / "proof.json"
    proof.write_text("{")
    result = cli("check", "-", "--certificate", str(proof), stdin=synced)
    assert (result.code, result.out) == (1, "")
    assert "is not JSON" in result.err
    assert result.err.endswith(
        "help: headway sync PROGRAM --certificate FILE writes a certificate\n"
    )


def test_a_proof_takes_no_inputs(cli: Cli, synced: str) -> None:
    result = cli("check", "-", "--all-inputs", "--input", "n=2", stdin=synced)
    assert (result.code, result.out) == (1, "")
    assert result.err == "error: a proof is for all inputs: leave out --input\n"


@pytest.mark.parametrize("other", [("--cost",), ("--certificate", "c.json")])
def test_what_a_proof_does_not_look_at_is_refused(cli: Cli, other: tuple[str, ...]) -> None:
    result = cli("check", "-", "--all-inputs", *other)
    assert result.code == 2
    assert "not allowed with argument --all-inputs" in result.err
