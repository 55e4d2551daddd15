"""The compiled judge says what the plain one says, and requires what the specification requires."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import pytest

from headway import strategies, targets
from headway.check import check, choose, judge
from headway.check.fast import judge as fast
from headway.check.fast import loops, lower, state
from headway.check.fast import records as rec
from headway.check.generate import Shape, generate
from headway.check.mutate import mutants
from headway.check.needs import reference
from headway.check.verdict import Verdict
from headway.code.rows import STILL
from headway.errors import HeadwayError, InvalidInput, UnsupportedByTarget
from headway.ir.expr import Inputs
from headway.sync import parse_sync
from headway.sync.program import Semaphore, SyncProgram

SHAPE = Shape(instructions=9, instances=90, control_in_memory=True)
LIMIT = 10_000


def quiet(_: str) -> None:
    """Say nothing."""


def outcome(judged: Callable[..., Verdict], *arguments: object) -> Verdict | tuple[type, str]:
    try:
        return judged(*arguments)
    except HeadwayError as error:
        return type(error), str(error)


def same(sync: SyncProgram, inputs: Inputs) -> Verdict | tuple[type, str]:
    """Let both judge; return what both say."""
    plain = outcome(judge.check, sync, inputs, LIMIT)
    assert outcome(fast.check, sync, inputs, LIMIT, quiet) == plain
    return plain


def placed(seeds: range) -> Iterator[tuple[SyncProgram, Inputs]]:
    """Yield random programs, synchronized by one strategy after the other."""
    names = strategies.names()
    for seed in seeds:
        case = generate(seed, SHAPE)
        try:
            strategy = strategies.load(names[seed % len(names)])
            yield strategy.synchronize(case.program, targets.load("generic")), case.inputs
        except UnsupportedByTarget:
            continue


def with_mutants(seeds: range, each: int) -> Iterator[tuple[SyncProgram, Inputs]]:
    for seed, (synced, inputs) in zip(seeds, placed(seeds), strict=False):
        yield synced, inputs
        made = [mutant.program for mutant in mutants(synced)]
        random.Random(seed).shuffle(made)
        yield from ((mutant, inputs) for mutant in islice(made, each))


@pytest.mark.thorough
def test_both_judges_say_the_same_of_programs_and_mutants():
    verdicts = [same(*case) for case in with_mutants(range(40), 5)]
    kinds = {v.verdict for v in verdicts if isinstance(v, Verdict)}
    assert kinds == {"exact", "early", "late", "deadlock", "unsupported"}
    assert len(verdicts) > 150


@pytest.mark.thorough
def test_little_room_changes_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(state, "FIRST_ROOM", 1)
    monkeypatch.setattr(state, "FIRST_WAITS", 1)
    monkeypatch.setattr(state, "MANY_FINDINGS", 3)
    for case in with_mutants(range(100, 115), 3):
        same(*case)


@pytest.mark.thorough
def test_needs_are_what_the_specification_requires():
    total = 0
    for synced, inputs in placed(range(200, 240)):
        plan, code = lower.lower(synced, inputs, LIMIT)
        s = state.state(plan, code)
        assert loops.specify(*s[:3]) == STILL
        width = rec.REQUIRED + len(plan.counters)
        for need in reference(synced, inputs):
            counter = plan.counters.index(need.instance.counter)
            here = s.counters[counter, rec.NEEDS] + (need.instance.position - 1) * width
            name, number, *required = (int(x) for x in s.needs[here : here + width])
            pairs = zip(plan.counters, required, strict=True)
            assert number == need.number
            assert name // 2 == plan.names[need.instance.node.name]
            assert {q: x // 2 for q, x in pairs if x} == need.required
            total += 1
    assert total > 500


PAIR = "input n[] engine A engine B buffer b slots 2"
BAD = {  # what cannot be run, and a piece of what is said of it
    "slot": (f"{PAIR} loop i 3 {{ A p writes(b[i]) takes(1) }}", "loop i 3 { p }", "where i = 2"),
    "trip": (f"{PAIR} loop i n[0] - 6 {{ A p takes(1) }}", "loop i 0 { p }", "would run -1 times"),
    "engine trip": (f"{PAIR} A p takes(1)", "p loop i n[0] - 7 { wait A >= 1 }", "run -2 times"),
    "register": (f"{PAIR} A p takes(1)", "registers r[2] r[n[0]] := 1 p", "element 5 was set"),
    "division": (f"{PAIR} A p takes(1)", "registers r r := 1 // r p", "division by zero"),
    "element": (f"{PAIR} A p takes(1)", "registers r r := n[4] p", "element 4 was asked for"),
    "program": (
        f"{PAIR} while t (t < t + n[0]) {{ A p takes(1) }}",
        "while t (t < t + n[0]) { p }",
        "10,000 instances",
    ),
    "engine": (f"{PAIR} A p takes(1)", "p while t (t < t + n[0]) { wait A >= 0 }", "10,000 events"),
    "after a deadlock": (f"{PAIR} A p takes(1)", "wait B >= 1 p loop i n[0] - 6 { }", "-1 times"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_run_is_told_alike(case: str):
    program, engine, piece = BAD[case]
    head = "sync @t strategy manual target generic"
    text = f"{head} {{ program @t {{ {program} }}\nengine A {{ {engine} }} }}"
    told = same(parse_sync(text, "t.hwy"), {"n": [5]})
    assert isinstance(told, tuple)
    assert piece in told[1]


STUCK = {  # engine programs of `A p, B c` where c needs p, and the verdict
    "shortfall": ("engine A { p } engine B { c waits A >= 2 }", "deadlock"),
    "circle": ("engine A { p waits B >= 1 } engine B { c waits A >= 1 }", "deadlock"),
    "circle of three": (
        "engine A { p waits B >= 1 } engine B { c waits C >= 1 } engine C { r waits A >= 1 }",
        "deadlock",
    ),
    "wait at the end": ("engine A { p wait B >= 2 } engine B { c waits A >= 1 }", "deadlock"),
    "lonely barrier": ("engine A { p barrier } engine B { c waits A >= 1 }", "deadlock"),
    "barriers": ("engine A { p barrier barrier } engine B { barrier barrier c }", "exact"),
    "issued twice": ("engine A { p p } engine B { c waits A >= 1 }", "unsupported"),
    "late": ("engine A { p q } engine B { c waits A >= 2 }", "late"),
    "nothing": ("engine A { if 0 { p } } engine B { c }", "unsupported"),
    "left over": (
        "flag f from A to B engine A { p set f } engine B { if 0 { take f } c waits A >= 1 }",
        "unsupported",
    ),
    "no token": (
        "flag f from A to B engine A { p set f } engine B { take f take f c }",
        "deadlock",
    ),
    "lost token": (
        "flag f from A to B holds 1 engine A { p set f set f } engine B { take f take f c }",
        "deadlock",
    ),
}


@pytest.mark.parametrize("case", STUCK)
def test_what_gets_stuck_is_told_alike(case: str):
    engines, verdict = STUCK[case]
    extra = " A q takes(1)" if " q " in engines else ""
    third, last = ("engine C", "C r takes(1)") if " r " in engines else ("", "")
    start = f"engine A engine B {third} buffer b A p writes(b) takes(1)"
    program = f"{start}{extra} B c reads(b) takes(1) {last}"
    text = f"sync @t strategy manual target generic {{ program @t {{ {program} }}\n{engines} }}"
    told = same(parse_sync(text, "t.hwy"), {})
    assert isinstance(told, Verdict)
    assert told.verdict == verdict


def long(n: str = "n", wait: str = "last") -> SyncProgram:
    """Return a pair of engines that run in step, as often as told."""
    return parse_sync(f"""sync @t strategy manual target generic {{
      program @t {{ input n engine A engine B buffer b
        loop i {n} {{ A p writes(b) takes(1) B c reads(b) takes(1) }} }}
      engine A {{ registers last loop i {n} {{ p waits B >= {wait} last := last + 1 }} }}
      engine B {{ registers last loop i {n} {{ last := last + 1 c waits A >= last }} }} }}""")


def test_long_run_is_judged_by_the_compiled_one(monkeypatch: pytest.MonkeyPatch):
    told: list[str] = []
    verdict = check(long(), {"n": 40_000}, progress=told.append)
    assert (
        str(verdict)
        == "exact: 80,000 instances, 80,000 waits; none is early, none late, no deadlock"
    )
    assert told[-1].endswith("instances judged")


def test_memory_does_not_grow_with_the_run():
    plan, code = lower.lower(long(), {"n": 100_000}, 10**7)
    s = state.state(plan, code)
    while (reason := loops.run(*s[:6])) in (rec.FULL, rec.PAUSED):
        s = state.with_room(s)
        assert len(s.told) + len(s.needs) < 30 * state.FIRST_ROOM
    assert reason == STILL


@pytest.mark.thorough
def test_of_many_findings_the_first_are_listed():
    verdict = check(long(wait="last - 1"), {"n": 120_000}, "compiled")
    assert verdict.verdict == "early"
    assert (len(verdict.findings), verdict.more) == (50, 119_949)
    assert [f.instance for f in verdict.findings[:2]] == ["p[1]", "p[2]"]
    short = check(long(wait="last - 1"), {"n": 60}, "reference").findings[:50]
    plain = [f"wait for signal {finding.required} of B at this point" for finding in short]
    assert verdict.findings == tuple(
        replace(finding, note="", help=help) for finding, help in zip(short, plain, strict=True)
    )


def test_short_run_needs_no_compiled_judge(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fast, "check", None)
    assert check(long(), {"n": 20}).verdict == "exact"


def test_without_numba_the_plain_judge_does_it(monkeypatch: pytest.MonkeyPatch):
    def nothing(_: str) -> None:
        """Find no module."""

    monkeypatch.setattr(importlib.util, "find_spec", nothing)
    assert check(long(), {"n": 2}).instances == 4
    with pytest.raises(InvalidInput, match="needs numba, which is not installed"):
        check(long(), {"n": 1}, "compiled")


def test_what_does_not_fit_goes_to_the_plain_judge(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(choose, "SHORT", 10)
    big = long(f"{10**9} * {10**9} * 10 // {10**9} // {10**9} * 2")
    assert check(big, {"n": 1}).instances == 40
    with pytest.raises(InvalidInput, match="does not fit the compiled judge"):
        check(big, {"n": 1}, "compiled")


def test_semaphores_that_wrap_go_to_the_plain_judge(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(choose, "SHORT", 10)
    narrow = replace(long(), semaphores=(Semaphore(0, "A", 5), Semaphore(1, "B", 16)))
    assert check(narrow, {"n": 31}, "compiled").verdict == "exact"
    with pytest.raises(InvalidInput, match="semaphores that do not wrap"):
        check(narrow, {"n": 32}, "compiled")
    assert check(narrow, {"n": 40}) == check(narrow, {"n": 40}, "reference")
    assert check(narrow, {"n": 40}).verdict == "early"


def test_unknown_judge_is_refused():
    with pytest.raises(InvalidInput, match="unknown judge 'quick'"):
        check(long(), {"n": 1}, "quick")
