"""The command line as a whole: exit codes, messages, files."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from command_line import Cli

from headway import passes
from headway.cli import main as main_module
from headway.cli.main import main
from headway.errors import CheckFailed

PROGRAM = """\
program @pair {
  input n
  queue q on sync
  buffer x slots 2
  loop i n {
    sync load triggers(q) writes(x[i % 2]) takes(50)
    vector add reads(x[i % 2]) takes(10)
  }
}
"""

EARLY = """\
sync @pair strategy manual target generic {
  program @pair {
    engine sync
    engine vector
    buffer x
    sync fetch writes(x) takes(50)
    vector add reads(x) takes(10)
  }
  engine sync {
    fetch
  }
  engine vector {
    add
  }
}
"""
EXACT = EARLY.replace("    add\n", "    add waits sync >= 1\n")

COMMANDS = ("sync", "sim", "compare", "check", "show", "list")


@pytest.fixture
def pair(tmp_path: Path) -> str:
    path = tmp_path / "pair.hwy"
    path.write_text(PROGRAM)
    return str(path)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_ends_with_examples(cli: Cli, command: str) -> None:
    result = cli(command, "--help")
    assert result.code == 0
    assert f"examples:\n  headway {'sync' if command == 'check' else command}"[:20] in result.out
    assert f"headway {command}" in result.out.split("examples:")[1]


def test_version_is_that_of_the_package(cli: Cli) -> None:
    assert cli("--version") == (0, f"headway {version('headway')}\n", "")


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["sync"], ["list", "engines"]])
def test_wrong_usage_exits_with_2_and_prints_nothing(cli: Cli, arguments: list[str]) -> None:
    result = cli(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("usage: headway")


def test_sync_output_is_judged_exact_and_simulates(cli: Cli, pair: str, tmp_path: Path) -> None:
    synced = str(tmp_path / "synced.hwy")
    assert cli("sync", pair, "-o", synced) == (0, "", "")
    verdict = cli("check", synced, "--input", "n=3", "--json")
    assert verdict.code == 0
    assert json.loads(verdict.out)["verdict"] == "exact"
    run = cli("sim", synced, "--input", "n=3", "--json")
    assert json.loads(run.out)["latency_ns"] > 0


def test_pipes_join_commands(cli: Cli, pair: str) -> None:
    synced = cli("sync", pair, "--strategy", "barrier")
    expanded = cli("show", "-", "--expand", "--input", "n=1", stdin=synced.out)
    assert expanded.code == 0
    assert "vector add[0] waits q >= 1" in expanded.out.splitlines()


def test_show_expands_a_sequential_program_to_what_it_requires(cli: Cli, pair: str) -> None:
    assert cli("show", pair, "--expand", "--input", "n=3").out.splitlines() == [
        "sync load[0]",
        "vector add[0] requires q >= 1",
        "sync load[1]",
        "vector add[1] requires q >= 2",
        "sync load[2] requires vector >= 1",
        "vector add[2] requires q >= 3",
    ]


def test_show_prints_what_it_can_read_again(cli: Cli, pair: str) -> None:
    shown = cli("show", pair).out
    assert cli("show", "-", stdin=shown).out == shown


def test_check_exits_with_3_and_says_where(cli: Cli) -> None:
    result = cli("check", "-", "--json", stdin=EARLY)
    assert result.code == 3
    verdict = json.loads(result.out)
    assert verdict["verdict"] == "early"
    assert verdict["findings"][0]["instance"] == "add[]"
    assert verdict["findings"][0]["required"] == 1
    assert cli("check", "-", stdin=EARLY).out.startswith("early: 1 finding")
    assert cli("check", "-", stdin=EXACT).code == 0


def test_trace_is_a_json_file_of_events(cli: Cli, tmp_path: Path) -> None:
    trace = tmp_path / "timeline.json"
    assert cli("sim", "-", "--trace", str(trace), stdin=EXACT).code == 0
    names = {event.get("name") for event in json.loads(trace.read_text())["traceEvents"]}
    assert {"fetch", "add"} <= {str(name).split("[")[0] for name in names}


@pytest.mark.thorough
def test_list_names_every_kind(cli: Cli) -> None:
    listed = json.loads(cli("list", "--json").out)
    assert {"barrier", "barrier-always", "flags", "scoreboard", "static"} <= set(
        listed["strategies"]
    )
    assert {"trn1", "trn2", "trn3", "generic"} <= set(listed["targets"])
    assert {"calibration-loop", "sync-chain", "matmul"} <= set(listed["kernels"])
    assert "split-waits" in listed["passes"]
    text = cli("list", "kernels").out
    assert text.startswith("kernels:\n  calibration-loop  ")


INPUT_PROBLEMS: dict[str, tuple[list[str], str]] = {
    "missing": (
        [],
        "{pair}:2:9: error: run-time input 'n' is missing; the program needs a number\n"
        "  help: --input n=3\n",
    ),
    "unknown": (
        ["--input", "n=1", "--input", "m=2"],
        "error: unknown run-time input 'm'\n  help: known: n\n",
    ),
    "no pair": (
        ["--input", "n"],
        "error: --input 'n' is not NAME=VALUE\n  help: --input n=7\n",
    ),
    "no number": (
        ["--input", "n=many"],
        "error: run-time input 'n' is 'many'\n"
        "  rule: an input is a whole number of at most 18 digits, or a list of them\n"
        "  help: --input n=7 or --input n=2,0,1\n",
    ),
    "list": (
        ["--input", "n=1,2"],
        "{pair}:2:9: error: run-time input 'n' is a list; the program needs a number\n"
        "  help: --input n=3\n",
    ),
    "no file": (
        ["--input", "@nowhere.json"],
        "error: cannot read 'nowhere.json': no such file or directory\n",
    ),
}


@pytest.mark.parametrize("problem", INPUT_PROBLEMS)
def test_input_problem_is_one_clear_text(cli: Cli, pair: str, problem: str) -> None:
    arguments, message = INPUT_PROBLEMS[problem]
    assert cli("compare", pair, *arguments) == (1, "", message.replace("{pair}", pair))


@pytest.mark.parametrize("command", ["compare", "show --expand"])
def test_negative_trip_count_names_the_loop(cli: Cli, pair: str, command: str) -> None:
    result = cli(*command.split(), pair, "--input", "n=-1")
    assert (result.code, result.out) == (1, "")
    assert "'i' would run -1 times" in result.err


def test_inputs_come_from_a_json_file_too(cli: Cli, pair: str, tmp_path: Path) -> None:
    inputs = tmp_path / "inputs.json"
    inputs.write_text('{"n": 2}')
    from_file = cli("show", pair, "--expand", "--input", f"@{inputs}")
    assert from_file.out == cli("show", pair, "--expand", "--input", "n=2").out
    inputs.write_text('{"n": 2.5}')
    assert cli("show", pair, "--expand", "--input", f"@{inputs}").err == (
        f"error: {inputs} does not hold the run-time inputs\n"
        "  rule: an object of names with whole numbers or lists of them\n"
        '  help: for example {"n": 7, "m": [2, 0, 1]}\n'
    )


def test_list_inputs_take_commas(cli: Cli) -> None:
    text = PROGRAM.replace("input n", "input n[]").replace("loop i n", "loop i n[1]")
    outputs = [
        cli("show", "-", "--expand", "--input", value, stdin=text).out
        for value in ("n=9,2", "n=9,2,")
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) == 4


BAD_PROGRAMS = {
    "empty": "",
    "malformed": "program @p { loop }",
    "binary": b"\x7fELF\x02\x01\x01\x00\xff\xfe",
    "zeros": b"\x00" * 100,
    "long line": "x" * 10_000_000,
    "two hosts": "program @p { queue q on a\n b load triggers(q) }",
}


@pytest.mark.thorough
@pytest.mark.parametrize("bad", BAD_PROGRAMS)
@pytest.mark.parametrize("command", ["sync", "compare", "check", "sim", "show"])
def test_bad_program_is_one_short_error(cli: Cli, command: str, bad: str) -> None:
    result = cli(command, "-", stdin=BAD_PROGRAMS[bad])
    assert (result.code, result.out) == (1, "")
    assert result.err.count("error: ") >= 1
    assert "internal error" not in result.err
    assert len(result.err) < 1000


def test_text_that_is_not_utf8_says_which_byte(cli: Cli) -> None:
    assert cli("show", "-", stdin=b"program\n\xff").err == (
        "<stdin>:2:1: error: byte 0xff is not UTF-8 text\n"
        "  help: a program is a file of UTF-8 text: save it as UTF-8, or name another file\n"
    )


@pytest.mark.parametrize("command", ["compare", "report"])
def test_a_list_without_a_strategy_is_refused(cli: Cli, command: str) -> None:
    result = cli(command, "sync-chain", "--strategies", "")
    assert (result.code, result.out) == (1, "")
    assert result.err == "error: --strategies names no strategy\n"


def test_unknown_program_name_is_answered_with_kernels(cli: Cli) -> None:
    result = cli("compare", "calibration-lop")
    assert result.code == 1
    assert result.err.startswith(
        "error: unknown file or kernel 'calibration-lop'\n  help: did you mean 'calibration-loop'? "
    )


def test_parameters_are_for_kernels(cli: Cli, pair: str) -> None:
    assert cli("show", pair, "--param", "tiles=2").err.startswith(
        f"error: {pair} has no parameters\n  rule: --param shapes a kernel of the suite\n"
    )
    assert cli("show", "matmul", "--param", "buffers=x").err == (
        "error: kernel parameter 'buffers' is 'x'\n  rule: a parameter is a whole number\n"
    )


def test_unknown_strategy_and_target_are_answered_with_the_closest(cli: Cli, pair: str) -> None:
    assert "did you mean 'scoreboard'?" in cli("sync", pair, "--strategy", "scorebord").err
    assert "did you mean 'trn2'?" in cli("sync", pair, "--target", "trn22").err


def test_sequential_program_is_told_from_a_synchronized_one(cli: Cli, pair: str) -> None:
    assert cli("sim", pair, "--input", "n=1") == (
        1,
        "",
        f"error: {pair} holds a sequential program and no engine programs\n"
        f"  help: headway sync {pair} -o synced.hwy\n",
    )


def test_output_is_replaced_in_one_step_or_not_at_all(cli: Cli, pair: str, tmp_path: Path) -> None:
    output = tmp_path / "out.hwy"
    output.write_text("before")
    output.chmod(0o640)
    link = tmp_path / "link.hwy"
    link.symlink_to(output)
    assert cli("sync", pair, "--target", "none", "-o", str(link)).code == 1
    assert output.read_text() == "before"
    assert cli("sync", pair, "-o", str(link)).code == 0
    assert output.read_text().startswith("sync @pair")
    assert link.is_symlink()
    assert output.stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.hwy", "out.hwy", "pair.hwy"]


def test_output_to_a_device_leaves_the_device(cli: Cli, pair: str) -> None:
    assert cli("sync", pair, "-o", "/dev/null").code == 0
    assert not Path("/dev/null").is_file()


def test_output_that_cannot_be_written_is_one_clear_error(cli: Cli, pair: str) -> None:
    assert cli("sync", pair, "-o", "/no/such/folder/x.hwy") == (
        1,
        "",
        "error: cannot write '/no/such/folder/x.hwy': no such file or directory\n",
    )


def break_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def run(_: object) -> int:
        raise error

    monkeypatch.setattr(main_module, "_run", run)


def test_a_fault_of_our_own_is_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADWAY_DEBUG", raising=False)
    break_with(monkeypatch, RuntimeError("two\nlines"))
    assert cli("list") == (
        1,
        "",
        "error: internal error, please report it (HEADWAY_DEBUG=1 shows more): "
        "RuntimeError: two lines\n",
    )


def test_debug_mode_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWAY_DEBUG", "1")
    break_with(monkeypatch, RuntimeError("inside"))
    with pytest.raises(RuntimeError, match="inside"):
        main(["list"])


def test_failed_check_exits_with_3(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    break_with(monkeypatch, CheckFailed("early"))
    assert cli("list") == (3, "", "error: early\n")


def test_interrupt_exits_with_130(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    break_with(monkeypatch, KeyboardInterrupt())
    assert cli("list") == (130, "", "interrupted\n")


def shell(arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{sys.executable} -m headway {arguments}"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        check=False,
    )


@pytest.mark.thorough
def test_reader_that_goes_away_is_no_error() -> None:
    run = shell("show matmul --expand | head -n 1")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.count("\n") == 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("show - <&-", "error: cannot read standard input: it is closed\n"),
        ("list targets --quiet >/dev/full", "error: cannot write: no space left on device\n"),
    ],
)
def test_broken_standard_streams_are_one_clear_error(arguments: str, message: str) -> None:
    run = shell(arguments)
    assert (run.returncode, run.stderr) == (1, message)


def test_sync_prints_one_json_object_with_the_report(cli: Cli, pair: str, tmp_path: Path) -> None:
    form = json.loads(cli("sync", pair, "--json").out)
    assert form["registers"] == {"sync": 1, "vector": 1}
    assert (form["semaphores"], form["concessions"]) == (2, [])
    written = tmp_path / "synced.hwy"
    assert "text" not in json.loads(cli("sync", pair, "--json", "-o", str(written)).out)
    assert written.read_text() == form["text"]


@pytest.mark.thorough
def test_passes_can_be_chosen(cli: Cli, pair: str) -> None:
    assert "threshold.1" in cli("sync", pair).out
    assert "threshold.1" not in cli("sync", pair, "--passes", "none").out
    assert "threshold.1" not in cli("sync", pair, "--passes", "split-waits").out
    assert cli("compare", pair, "--input", "n=3", "--passes", "split").err == (
        "error: unknown pass 'split'\n"
        f"  help: did you mean 'split-waits'? known: {', '.join(passes.names())}\n"
    )


@pytest.mark.thorough
def test_limits_of_a_target_can_be_changed(cli: Cli, pair: str) -> None:
    result = cli("sync", pair, "--limit", "width=4", "--limit", "signed=0")
    assert "semaphore 0 counts vector width 4\n" in result.out
    assert result.err == (
        "given up: barriers before vector, q could be full: semaphores of 4 bits\n"
    )
    form = json.loads(cli("sync", pair, "--limit", "width=4", "--json").out)
    assert form["concessions"] == [
        {
            "kind": "epochs",
            "engine": "",
            "message": "barriers before vector, q could be full: semaphores of 4 bits",
        }
    ]
    assert cli("sync", pair, "--limit", "width=x").err == (
        "error: limit 'width' is 'x'\n  rule: a limit is a whole number\n"
    )


@pytest.mark.thorough
def test_what_limits_cost_is_said_on_request(cli: Cli, pair: str) -> None:
    command = ("compare", pair, "--input", "n=40", "--limit", "width=4", "--strategies", "counted")
    measured = json.loads(cli(*command, "--json", "--cost").out)["strategies"]["counted"]
    assert measured["cost_ns"] > 0
    assert measured["barriers"] == 6
    assert "the limits of trn2 cost counted" in cli(*command, "--cost").out
    assert "cost_ns" not in json.loads(cli(*command, "--json").out)["strategies"]["counted"]
