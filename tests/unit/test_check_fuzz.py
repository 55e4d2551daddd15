"""The campaign: what counts as a failure, and how it is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from headway.check.fuzz import (
    Campaign,
    Candidate,
    Failure,
    difference,
    first_of_each,
    has_barriers,
    spread,
    to_file,
    violation,
)
from headway.check.generate import Shape, generate
from headway.check.shrink import Small
from headway.cli.fuzz import candidates, simulated, synchronized
from headway.errors import UnsupportedByTarget
from headway.ir import parse
from headway.ir.program import Program
from headway.spec import ideal
from headway.sync.program import Exec, SyncProgram, Threshold, Wait

SEEDS = range(12)


def altered(change: Callable[[Exec], Exec]) -> Candidate:
    """Return a strategy that is the scoreboard with every instruction at top level changed."""

    def synchronize(program: Program) -> SyncProgram:
        synced = synchronized("scoreboard", program)
        engines = (
            replace(e, body=tuple(change(n) if isinstance(n, Exec) else n for n in e.body))
            for e in synced.engines
        )
        return replace(synced, engines=tuple(engines))

    return Candidate("altered", synchronize)


def kinds(candidate: Candidate, seeds: range = SEEDS) -> set[str]:
    campaign = Campaign((candidate,), simulated, Shape(6, 60))
    return {failure.kind for seed in seeds for failure in campaign.outcome(seed).failures}


def test_sound_strategies_do_not_fail():
    campaign = Campaign(candidates(("scoreboard", "barrier")), simulated, Shape(6, 60))
    for outcome in map(campaign.outcome, SEEDS):
        assert outcome.failures == ()
        assert outcome.instances > 0


def test_strategy_without_waits_is_early():
    assert kinds(altered(lambda node: replace(node, waits=())), range(40)) == {"early"}


def test_wait_for_what_never_comes_is_a_deadlock():
    never = Wait("A", Threshold(None, 10_000))
    found = kinds(altered(lambda node: replace(node, waits=(*node.waits, never))), range(6))
    assert found == {"deadlock"}


def test_strategy_that_refuses_a_program_does_not_fail():
    def refuse(program: Program) -> SyncProgram:
        raise UnsupportedByTarget("not today")

    outcome = Campaign((Candidate("shy", refuse),), simulated).outcome(1)
    assert outcome.failures == ()
    assert outcome.refused == ("shy",)


def test_exception_is_a_failure_with_its_text():
    def trip(program: Program) -> SyncProgram:
        raise KeyError(program.name)

    outcome = Campaign((Candidate("clumsy", trip),), simulated).outcome(1)
    assert outcome.failures == (Failure(1, "clumsy", "crash", "KeyError: 'seed_1'"),)


def test_clock_that_contradicts_the_verdict_is_a_failure():
    def slow(synced, inputs):
        times = simulated(synced, inputs)
        return {q: [(issue + 1, done + 1) for issue, done in spans] for q, spans in times.items()}

    campaign = Campaign(candidates(("scoreboard",)), slow)
    (failure,) = campaign.outcome(1).failures
    assert failure.kind == "times"
    assert " ns, and at 0 ns by the ideal" in failure.message


PAIR = parse("program @pair { buffer b A p writes(b) takes(50) B c reads(b) takes(10) }")


def test_clock_sees_what_is_issued_before_its_time():
    early = {"A": [(0.0, 50.0)], "B": [(0.0, 10.0)]}
    assert violation(PAIR, {}, early) == "c[] is issued at 0 ns, signal 1 of A comes at 50 ns"
    assert difference(ideal(PAIR, {}), early) == (
        "c[] is issued at 0 ns, and at 50 ns by the ideal"
    )
    late = {"A": [(0.0, 50.0)], "B": [(60.0, 70.0)]}
    assert violation(PAIR, {}, late) == ""
    assert difference(ideal(PAIR, {}), late) == (
        "c[] is issued at 60 ns, and at 50 ns by the ideal"
    )


def test_only_programs_with_barriers_may_be_late():
    program = generate(3).program
    assert has_barriers(synchronized("barrier", program))
    assert not has_barriers(synchronized("scoreboard", program))


def test_outcomes_of_two_processes_come_in_order():
    campaign = Campaign(candidates(("scoreboard",)), simulated, Shape(4, 30))
    assert list(spread(campaign.outcome, range(5))) == [campaign.outcome(s) for s in range(5)]


def test_failure_is_shrunk_and_told_as_a_program():
    campaign = Campaign((altered(lambda node: replace(node, waits=())),), simulated)
    failures = [f for seed in range(20) for f in campaign.outcome(seed).failures]
    (failure,) = first_of_each(failures)
    assert failure == failures[0]
    small = campaign.shrunk(failure)
    assert len(small.program.body) == 2  # one instruction that has to wait for another
    text = to_file(small, failure)
    assert text.startswith(f"// seed {failure.seed}: altered: early\n// error: early: ")
    assert parse(text) == small.program


def test_inputs_are_told_as_options():
    program = parse("program @t { input n input m[] A p }")
    failure = Failure(7, "barrier", "late", "too late")
    assert to_file(Small(program, {"n": 3, "m": [2]}), failure).splitlines()[:3] == [
        "// seed 7: barrier: late",
        "// too late",
        "// headway sync FILE --strategy barrier --target generic | "
        "headway check - --input n=3 --input m=2,",
    ]
