"""What commands show on a terminal, in a pipe, in other shells: width, colours, progress, notes."""

import io
import os
import pty
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Cli

import headway
from headway import progress, terminal
from headway.cli.main import COMMANDS, parser

TABLE = ("compare", "sync-chain", "--input", "n=4", "--quiet")
EARLY = """sync @p target generic {
  program @p { engine a engine b buffer x a put writes(x) b get reads(x) }
  engine a { put }
  engine b { get }
}
"""


def on_terminal(*arguments: str, **variables: str) -> str:
    """Return what a command shows on a terminal, with the line ends of files."""
    main, side = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        [sys.executable, "-m", "headway", *arguments],
        stdin=side,
        stdout=side,
        stderr=side,
        env={**environment, "TERM": "xterm", **variables},
    )
    os.close(side)
    shown = b""
    while True:
        try:
            part = os.read(main, 4096)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        shown += part
    os.close(main)
    process.wait()
    return shown.decode().replace("\r\n", "\n")


@pytest.fixture
def early(tmp_path: Path) -> str:
    path = tmp_path / "early.hwy"
    path.write_text(EARLY)
    return str(path)


@pytest.mark.thorough
@pytest.mark.parametrize("columns", [40, 60])
def test_a_narrow_terminal_gets_lines_that_fit(columns: int) -> None:
    shown = on_terminal(*TABLE, COLUMNS=str(columns))
    assert max(map(len, shown.splitlines())) <= columns
    assert re.search(r"^counted\n  latency +[\d,.]+ (us|ns)\n  vs barrier ", shown, re.MULTILINE)


@pytest.mark.thorough
def test_a_wide_terminal_and_a_pipe_get_the_same_table(cli: Cli) -> None:
    plain = cli(*TABLE).out
    assert on_terminal(*TABLE, COLUMNS="120", NO_COLOR="1") == plain
    assert max(map(len, plain.splitlines())) > 80


@pytest.mark.thorough
def test_errors_have_colours_unless_the_user_wants_none(early: str) -> None:
    wide = {"COLUMNS": "200"}
    coloured = on_terminal("check", "--quiet", early, **wide)
    assert coloured.startswith("\x1b[1;31mearly\x1b[0m: 1 finding\n")
    plain = on_terminal("check", "--quiet", early, NO_COLOR="1", **wide)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[\d;]+m", "", coloured) == plain
    assert "\x1b" not in on_terminal("check", "--quiet", early, TERM="dumb", **wide)


def test_a_pipe_gets_whole_lines_without_colours(
    cli: Cli, early: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    shown = cli("check", early).out
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) > 80


def test_folding_cuts_no_word_and_keeps_the_indent() -> None:
    line = "  help: " + " ".join(["word"] * 20) + " " + "x" * 50
    parts = list(terminal._folded(line, 40))
    assert " ".join(part.strip() for part in parts) == line.strip()
    assert parts[0].startswith("  help: word")
    assert parts[1].startswith("      word")
    assert [len(part) > 40 for part in parts].count(True) == 1


Slow = Callable[[float], None]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    """Work that takes so many seconds, with a watch that is not as patient as usual."""
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "PAUSE", 0.05)
    return time.sleep


def test_long_work_is_said_on_standard_error(
    slow: Slow, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.speaking("sync", is_quiet=False):
        slow(0.5)
        progress.Progress()("counted")
        slow(0.5)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[0] == "0 s: sync ..."
    assert re.fullmatch(r"\d s: counted \.\.\.", lines[-1])
    assert len(lines) <= 8  # the pauses grow


class Terminal(io.StringIO):
    """A stream that takes itself for a terminal."""

    def isatty(self) -> bool:
        return True


def shown_at_last(text: str) -> str:
    """Return what is left of a line that is written again and again."""
    return "\n".join(line.rpartition(progress.CLEAR)[2] for line in text.split("\n"))


def test_a_terminal_gets_one_line_that_goes_away(
    slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = Terminal()
    monkeypatch.setattr(sys, "stderr", error)
    with progress.speaking("sync", is_quiet=False):
        slow(0.5)
    said = error.getvalue()
    assert re.search(rf"{re.escape(progress.CLEAR)}\d+ s: sync \.\.\.", said)
    assert "\n" not in said
    assert shown_at_last(said) == ""


def test_output_takes_the_line_away_first(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    both = Terminal()
    monkeypatch.setattr(sys, "stderr", both)
    monkeypatch.setattr(sys, "stdout", both)
    with progress.speaking("show", is_quiet=False):
        slow(0.5)
        print("a result")
        slow(0.3)
    assert " s: show ..." in both.getvalue()
    assert shown_at_last(both.getvalue()) == "a result\n"
    assert sys.stdout is both


def test_quick_work_is_not_said(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.speaking("sync", is_quiet=False):
        pass
    assert capsys.readouterr() == ("", "")


def test_quiet_work_says_no_progress_and_no_notes(
    slow: Slow, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.speaking("sync", is_quiet=True):
        slow(0.3)
        progress.say("a note")
    assert capsys.readouterr() == ("", "")
    with progress.speaking("sync", is_quiet=False):
        progress.say("a note")
    assert capsys.readouterr() == ("", "a note\n")


@pytest.mark.parametrize("option", ["-q", "--quiet"])
def test_quiet_leaves_what_was_given_up_unsaid(cli: Cli, option: str) -> None:
    command = ("sync", "sync-chain", "--limit", "width=4", "--limit", "signed=0")
    said, unsaid = cli(*command), cli(*command, option)
    assert said.err.startswith("given up: ")
    assert (unsaid.out, unsaid.err) == (said.out, "")


def test_quiet_keeps_errors(cli: Cli) -> None:
    result = cli("sync", "nothing", "--quiet")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: unknown file or kernel 'nothing'")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_that_are_right(cli: Cli, command: str) -> None:
    """Every example of the help texts is taken by the parser, pipes and all."""
    shown = cli(command, "--help")
    assert shown.code == 0
    examples = [x.strip() for x in shown.out.split("examples:")[1].splitlines() if x.strip()]
    calls = [call for example in examples for call in re.findall(r"headway [^|>)]+", example)]
    assert any(call.startswith(f"headway {command}") for call in calls)
    for call in calls:
        assert parser().parse_args(shlex.split(call)[1:]).command


def completions(line: str, folder: Path) -> list[str]:
    """Return what a shell is told when TAB is pressed at the end of a line."""
    answer = folder / "answer"
    asked = {
        "PYTHONPATH": str(Path(headway.__file__).parents[1]),
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    subprocess.run(
        [sys.executable, "-m", "headway"], env={**os.environ, **asked}, check=True, cwd=folder
    )
    return [word.strip() for word in answer.read_text().split("\n") if word]


@pytest.mark.thorough
def test_a_shell_completes_commands_options_names_and_files(tmp_path: Path) -> None:
    (tmp_path / "kernel.hwy").touch()
    assert {"compare", "completion"} <= set(completions("headway com", tmp_path))
    assert completions("headway sync --strategy sc", tmp_path) == ["scoreboard"]
    assert completions("headway compare matmul --target trn", tmp_path) == ["trn1", "trn2", "trn3"]
    assert completions("headway compare calib", tmp_path) == ["calibration-loop"]
    assert completions("headway compare kern", tmp_path) == ["kernel.hwy"]
    assert completions("headway compare x --strategies barrier,fl", tmp_path) == ["barrier,flags"]
    assert "--quiet" in completions("headway sync --q", tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_for_a_shell(cli: Cli, shell: str, tmp_path: Path) -> None:
    code, out, err = cli("completion", shell)
    assert (code, err) == (0, "")
    assert "headway" in out
    if shell == "bash":  # the others are not on every machine
        asked = f"{out}\ncomplete -p headway"
        done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=False)
        assert done.stdout.rstrip().endswith(" headway"), done.stderr


def test_completion_without_its_package_says_what_to_install(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "argcomplete", None)
    assert cli("completion", "bash") == (
        1,
        "",
        "error: completion needs the package argcomplete\n"
        "  help: install Headway with it: pip install 'headway[completion]'\n",
    )
