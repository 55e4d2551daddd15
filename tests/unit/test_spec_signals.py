"""Completions and signals: the same numbers unless something is silent."""

from __future__ import annotations

from math import inf

from headway.ir import parse
from headway.spec import Signals, ideal, instances
from headway.targets import bind
from headway.targets.generic import TARGET

SILENT = """program @p { input n engine A engine B buffer b slots 2
  loop i n { A p writes(b[i % 2]) takes(10) silent A q takes(5) B c reads(b[i % 2]) takes(20) } }"""


def test_counters_without_silent_instances_count_completions() -> None:
    signals = Signals([("A", False), ("A", False), ("B", True)])
    assert [signals.position("A", n) for n in range(4)] == [0, 1, 2, 3]
    assert (signals.number("A", 2), signals.cover("A", 2), signals.among("A", 2)) == (2, 2, 2)
    assert signals.number("C", 7) == 7


def test_silent_completion_shows_with_the_next_signal() -> None:
    signals = Signals(("A", silent) for silent in (True, False, True, True, False))
    assert [signals.position("A", n) for n in range(3)] == [0, 2, 5]
    assert [signals.number("A", p) for p in range(6)] == [0, 1, 1, 2, 2, 2]
    assert [signals.cover("A", p) for p in range(1, 6)] == [2, 2, 5, 5, 5]
    assert [signals.among("A", p) for p in range(6)] == [0, 0, 1, 1, 1, 2]


def test_signal_that_never_comes_is_behind_all_completions() -> None:
    signals = Signals(("A", silent) for silent in (False, True))
    assert (signals.position("A", 2), signals.cover("A", 2)) == (3, 3)


def test_signals_of_a_run() -> None:
    signals = Signals.of(instances(parse(SILENT), {"n": 3}))
    assert [signals.position("A", n) for n in (1, 2, 3)] == [2, 4, 6]


def test_ideal_machine_sees_a_silent_completion_with_the_next_signal() -> None:
    issues = ideal(bind(parse(SILENT), TARGET), {"n": 2})
    assert [issue for instance, issue, _ in issues if instance.counter == "B"] == [15, 35]


def test_ideal_machine_never_issues_what_no_signal_shows() -> None:
    program = SILENT.replace("takes(5)", "takes(5) silent")
    issues = ideal(bind(parse(program), TARGET), {"n": 1})
    assert [issue for instance, issue, _ in issues if instance.counter == "B"] == [inf]
