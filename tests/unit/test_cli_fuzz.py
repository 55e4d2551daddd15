"""`headway fuzz`."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from command_line import Cli

from headway.cli import fuzz
from headway.strategies import load


def test_campaign_prints_one_json_object(cli: Cli, tmp_path: Path):
    result = cli(
        "fuzz", "--programs", "4", "--seed", "3", "--strategies", "scoreboard,static", "--json",
        "-o", str(tmp_path),
    )  # fmt: skip
    assert result.code == 0
    report = json.loads(result.out)
    assert report.pop("instances") > 4
    assert report.pop("refused")["static"] <= 4
    assert report == {
        "programs": 4,
        "seed": 3,
        "strategies": ["scoreboard", "static"],
        "ways": ["scoreboard", "static"],
        "early": 0,
        "late": 0,
        "deadlock": 0,
        "unsupported": 0,
        "times": 0,
        "crash": 0,
        "files": [],
    }
    assert list(tmp_path.iterdir()) == []


def test_campaign_is_summed_up_in_a_line(cli: Cli):
    result = cli("fuzz", "--programs", "2", "--strategies", "barrier")
    assert result.code == 0
    assert result.out.startswith("2 programs, ")
    assert result.out.endswith(
        " instances: 0 early, 0 late, 0 deadlock, 0 unsupported, 0 times, 0 crash\n"
    )


def test_options_are_switched_alone_and_together_in_as_many_processes_as_asked(cli: Cli):
    result = cli(
        "fuzz", "--programs", "2", "--strategies", "scoreboard,counted",
        "--options", "skip,hoisting", "--jobs", "1", "--json",
    )  # fmt: skip
    report = json.loads(result.out)
    assert result.code == 0
    assert report["strategies"] == ["scoreboard", "counted"]
    assert report["ways"] == [
        "scoreboard",
        "counted",
        "counted with switched skip",
        "counted with switched hoisting",
        "counted with switched skip,hoisting",
    ]


def test_all_options_are_those_that_the_strategy_has():
    from headway.strategies.options import options

    found = list(fuzz.ways("counted", ("all",)))
    assert len(found) == len(options(load("counted"))) + 2
    assert list(fuzz.ways("scoreboard", ("all",))) == ["scoreboard"]


def test_switched_option_reaches_the_strategy():
    from headway.check.generate import generate

    program = generate(1).program
    plain = fuzz.synchronized("counted", program)
    switched = fuzz.synchronized("counted with switched static_gaps", program)
    assert plain != switched


def test_mutants_are_counted(cli: Cli):
    result = cli(
        "fuzz", "--programs", "2", "--seed", "5", "--strategies", "scoreboard", "--mutants",
        "--json",
    )  # fmt: skip
    report = json.loads(result.out)
    assert result.code == 0
    assert report["programs"] == 2
    assert report["mutants"] == report["caught"] + report["equivalent"]
    assert report["caught"] > 0
    assert report["missed"] == 0


def test_mutants_that_make_no_difference_are_listed_with_the_reason(cli: Cli, tmp_path: Path):
    path = tmp_path / "redundant.jsonl"
    result = cli(
        "fuzz", "--programs", "3", "--seed", "5", "--strategies", "scoreboard,barrier",
        "--mutants", "--in-turn", "--list", str(path), "--json",
    )  # fmt: skip
    report = json.loads(result.out)
    listed = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(listed) == report["equivalent"] > 0
    turns = ["scoreboard", "barrier"]
    assert all(entry["strategy"] == turns[entry["seed"] % 2] for entry in listed)
    assert all(entry["place"] and entry["engine"] and entry["kind"] for entry in listed)
    reasons = {entry["message"].removeprefix("redundant: ") for entry in listed}
    assert reasons == set(report["redundant"])


def test_a_list_is_of_mutants(cli: Cli):
    result = cli("fuzz", "--programs", "1", "--list", "x.jsonl")
    assert (result.code, result.out) == (1, "")
    assert result.err == "error: --list is about mutants: add --mutants\n"


def test_programs_are_tried_with_one_way_each_in_turn(cli: Cli):
    given = ("fuzz", "--programs", "4", "--seed", "8", "--strategies", "static,counted", "--json")
    every, turns = (json.loads(cli(*given, *more).out) for more in ((), ("--in-turn",)))
    assert every["refused"] == {"static": 4}  # their loops have trip counts of run time
    assert turns["refused"] == {"static": 2}
    assert turns["instances"] == every["instances"]


@dataclass(frozen=True)
class Forgetful:
    """The scoreboard, of whose waits every other one is missing."""

    name: str = "forgetful"

    def synchronize(self, program, target):
        synced = load("scoreboard").synchronize(program, target)
        engines = (replace(e, body=_without(e.body)) for e in synced.engines)
        return replace(synced, engines=tuple(engines))


def _without(body):
    return tuple(replace(node, waits=()) if hasattr(node, "waits") else node for node in body)


def test_failing_strategy_leaves_a_small_program_that_reproduces_it(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fuzz, "_strategy", lambda name: Forgetful())  # forked processes see it too
    result = cli(
        "fuzz", "--programs", "20", "--strategies", "barrier", "--json", "-o", str(tmp_path)
    )
    report = json.loads(result.out)
    assert result.code == 3
    assert report["early"] > 0
    (path,) = tmp_path.iterdir()
    assert report["files"] == [str(path)]
    assert result.err.endswith(f"barrier: early: {path}\n")
    text = path.read_text()
    assert text.count(" takes(") == 2
    assert text.startswith(f"// seed {path.name.split('-')[1]}: barrier: early\n")


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("--strategies", "bariers"), 1, "error: unknown strategy 'bariers'"),
        (("--strategies", ","), 1, "error: --strategies names no strategy"),
        (("--options", "skipp"), 1, "error: unknown option 'skipp'"),
        (("--jobs", "0"), 2, "'0' is not a number above 0"),
        (("--programs", "0"), 2, "'0' is not a number above 0"),
        (("--programs", "many"), 2, "'many' is not a number above 0"),
        (("--seed", "x"), 2, "argument --seed: invalid int value: 'x'"),
        (("-o", "no/such/folder"), 1, "error: 'no/such/folder' is not a folder"),
        (("--mutants", "--list", "no/l"), 1, "cannot write 'no/l': there is no such folder"),
    ],
)
def test_bad_arguments_are_refused(cli: Cli, arguments: tuple[str, ...], code: int, error: str):
    result = cli("fuzz", *arguments)
    assert result.code == code
    assert error in result.err
    assert result.out == ""
