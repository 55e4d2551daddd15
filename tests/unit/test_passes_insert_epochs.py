"""Narrow semaphores: a barrier before one is full, and nothing else changes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import pytest

from headway import passes
from headway.check import check
from headway.check.fuzz import violation
from headway.check.generate import Shape, generate
from headway.compiler import fit, synchronize
from headway.errors import InvalidInput, UnsupportedByTarget
from headway.ir import parse
from headway.ir.program import Program
from headway.passes.insert_epochs import PASS, filled, most_signals
from headway.sim import simulate
from headway.strategies.counted import STRATEGY
from headway.sync import parse_sync, to_text
from headway.sync.program import SyncProgram
from headway.targets import Target, bind
from headway.targets.generic import TARGET

NAIVE = [name for name in passes.ORDER if name != "insert-epochs"]
PAIR = parse("""program @p { input n engine A engine B buffer b
  loop i n { A p writes(b) takes(10) B c reads(b) takes(30) } }""")
ROTATING = parse("""program @p { input n engine PE engine SP queue Q on SP buffer b slots 2
  loop i n { SP ld triggers(Q) writes(b[i % 2]) PE mm reads(b[i % 2]) } }""")


def narrow(width: int, is_signed: bool = False) -> Target:
    cells = replace(TARGET.semaphores, width=width, is_signed=is_signed)
    return replace(TARGET, semaphores=cells)


def engine_text(sync: SyncProgram, engine: str) -> str:
    return (
        to_text(sync).partition(f"  engine {engine} {{\n    registers")[2].partition("\n  }\n")[0]
    )


def violated(sync: SyncProgram, inputs: dict[str, int | list[int]]) -> str:
    tracks = simulate(sync, inputs, TARGET).tracks
    times = {track.counter: [(t.issue, t.done) for t in track] for track in tracks}
    return violation(sync.program, inputs, times)


def test_loop_is_cut_into_groups_that_keep_the_slots_of_a_rotating_buffer() -> None:
    assert engine_text(synchronize(ROTATING, narrow(4)), "PE") == (
        " shadow.Q\n"
        "    loop epoch.i (n + 13) // 14 {\n"
        "      if epoch.i > 0 {\n"
        "        barrier\n"
        "      }\n"
        "      shadow.Q := 0\n"
        "      loop i min(14, n - 14 * epoch.i) {\n"
        "        mm waits Q >= shadow.Q + 1\n"
        "        shadow.Q := shadow.Q + 1\n"
        "      }\n"
        "    }"
    )


@pytest.mark.thorough
@pytest.mark.parametrize("is_signed", [False, True], ids=["unsigned", "signed"])
@pytest.mark.parametrize("width", [4, 5, 6, 8])
def test_counts_around_the_largest_are_right_and_exact_where_they_fit(  # T18
    width: int, is_signed: bool
) -> None:
    target = narrow(width, is_signed)
    synced, most = synchronize(PAIR, target), most_signals(target)
    assert most == 2 ** (width - is_signed) - 1
    for n in (most, most + 1, most + 2):
        assert check(synced, {"n": n}).verdict == "exact"  # each `p` waits for all before anyway
        assert violated(synced, {"n": n}) == ""
        assert simulate(synced, {"n": n}, TARGET).barriers == (n - 1) // most
    assert simulate(synced, {"n": most}, TARGET).latency == most * 40


@pytest.mark.thorough
@pytest.mark.parametrize("width", [4, 5, 6, 8])
def test_without_epochs_a_wrap_is_found(width: int) -> None:  # T18, the naive variant
    naive, full = synchronize(PAIR, narrow(width), passes=NAIVE), 2**width
    assert check(naive, {"n": full - 1}).verdict == "exact"
    for n in (full, full + 1, 3 * full):
        assert check(naive, {"n": n}).verdict in ("early", "deadlock")
        assert re.match(r"c.* is issued at .*, signal .* of A comes at", violated(naive, {"n": n}))


def test_threshold_that_does_not_fit_lets_an_instance_issue_early() -> None:
    ahead = parse("""program @p { engine A engine B buffer b
      loop i 16 { A p takes(10) } A w writes(b) takes(10) B c reads(b) takes(10) }""")
    naive = synchronize(ahead, narrow(4), passes=NAIVE)
    assert "c waits A >= 17" in to_text(naive)
    verdict = check(naive, {})
    assert verdict.verdict == "early"
    assert "c[] on B may issue before w[] has completed: it depends on signal 17 of A" in str(
        verdict.findings[0]
    )
    assert violated(naive, {}) == "c[] is issued at 10 ns, signal 17 of A comes at 170 ns"
    assert violated(synchronize(ahead, narrow(4)), {}) == ""


CONTROL: dict[str, tuple[str, dict[str, int | list[int]]]] = {
    "nested run-time loops": (
        "input n input m[] engine A engine B buffer b buffer c"
        " loop i n { A p writes(b) loop j m[i] { B q reads(b) writes(c) A r reads(c) } }",
        {"n": 5, "m": [9, 0, 20, 1, 7]},
    ),
    "while": (
        "input n engine A engine B buffer b while t (t < n) { A p writes(b) B c reads(b) }",
        {"n": 40},
    ),
    "while that would hold again behind its end": (
        "input go[] engine A engine B buffer b while t (go[t]) { A p writes(b) B c reads(b) }",
        {"go": [1] * 18 + [0] + [1] * 30},
    ),
    "if with much inside": (
        "input k engine A engine B buffer b"
        " A x writes(b) if k { loop i 20 { A p writes(b) B c reads(b) } } else { B y reads(b) }",
        {"k": 1},
    ),
    "trip count in memory": (
        "input n engine A engine B buffer b buffer v A w writes(v)"
        " loop i n load l reads(v) { A p writes(b) B c reads(b) } B z writes(v)",
        {"n": 33},
    ),
    "condition in memory": (
        "input n engine A engine B buffer b buffer v"
        " while t (t < n) load l reads(v) { A p writes(b) B c reads(b) writes(v) }",
        {"n": 33},
    ),
    "straight line": (
        "engine A engine B buffer b"
        + "".join(f" A p{k} writes(b) B c{k} reads(b)" for k in range(20)),
        {},
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", CONTROL)
def test_every_form_of_control_can_be_cut(name: str) -> None:
    source, inputs = CONTROL[name]
    program, target = parse(f"program @p {{ {source} }}"), narrow(4)
    naive, synced = synchronize(program, target, passes=NAIVE), synchronize(program, target)
    assert check(naive, inputs).verdict in ("early", "deadlock")
    assert check(synced, inputs).verdict in ("exact", "late")
    assert violated(synced, inputs) == ""
    assert filled(synced, most_signals(target)) == ()
    assert parse_sync(to_text(synced)) == synced


@pytest.mark.parametrize(
    ("condition", "is_cut_into_groups"),
    [
        ("t < n", True),
        ("n >= t and t <= m[0]", True),
        ("t < n or t < 3", True),
        ("m[t]", False),  # 0, and 1 again: the next group would begin although the while has ended
        ("t < m[t]", False),
        ("t < n and m[t]", False),
        ("t != n", False),
        ("t > n", False),
    ],
)
def test_while_is_cut_into_groups_if_its_end_is_final(
    condition: str, is_cut_into_groups: bool
) -> None:
    program = parse(f"""program @p {{ input n input m[] engine A engine B buffer b
      while t ({condition}) {{ A p writes(b) B c reads(b) }} }}""")
    assert ("epoch" in to_text(synchronize(program, narrow(4)))) == is_cut_into_groups


def judged(seeds: Iterable[int], strategy: str) -> list[str]:
    """Return what goes wrong on random programs with narrow semaphores."""
    wrong: list[str] = []
    for seed in seeds:
        case = generate(seed, Shape(9, 300, control_in_memory=seed % 3 == 0))
        for target in (narrow(3), narrow(4, is_signed=True)):
            synced, report = fit(case.program, target, strategy)
            verdict = check(synced, case.inputs)
            broken = violated(synced, case.inputs)
            if verdict.verdict not in ("exact", "late") or broken:
                wrong.append(f"seed {seed}: {verdict} {broken}")
            if not report.concessions and strategy == "counted" and seed % 3:
                assert verdict.verdict == "exact"
    return wrong


@pytest.mark.thorough
@pytest.mark.parametrize("strategy", ["counted", "scoreboard", "barrier", "flags"])
def test_random_programs_are_never_early_and_never_stand_still(strategy: str) -> None:
    assert judged(range(3), strategy) == []


def test_what_is_given_up_is_said() -> None:
    _, report = fit(PAIR, narrow(8))
    assert [str(concession) for concession in report.concessions] == [
        "barriers before B, A could be full: semaphores of 8 bits"
    ]


def test_barriers_that_are_there_anyway_need_no_epochs() -> None:
    synced, report = fit(PAIR, narrow(4), "barrier")
    assert report.concessions == ()
    assert check(synced, {"n": 100}).verdict == check(synced, {"n": 5}).verdict


def test_wide_semaphores_are_taken_to_be_never_full() -> None:
    assert fit(PAIR, narrow(32))[1].concessions == ()
    assert "epoch" in to_text(synchronize(PAIR, narrow(31)))


def test_names_of_epochs_are_free_ones() -> None:
    program = parse("""program @p { input epoch.i engine A engine B buffer b
      loop i epoch.i { A p writes(b) B c reads(b) } }""")
    assert "loop epoch.i_ (epoch.i + 14) // 15 {" in to_text(synchronize(program, narrow(4)))


def test_pass_alone_cannot_ask_the_strategy_again() -> None:
    sync = STRATEGY.synchronize(bind(PAIR, TARGET), TARGET)
    assert PASS.apply(sync, TARGET) == sync
    with pytest.raises(UnsupportedByTarget) as caught:
        PASS.apply(sync, narrow(4))
    assert str(caught.value) == (
        "error: the semaphores of target 'generic' could be full: B, A\n"
        "  rule: a semaphore of 4 bits holds 15\n"
        "  help: run the pass insert-epochs with the strategy that made the program"
    )


def test_semaphore_that_holds_nothing_is_refused() -> None:
    with pytest.raises(UnsupportedByTarget) as caught:
        synchronize(PAIR, narrow(1, is_signed=True))
    assert str(caught.value) == (
        "<text>:2:14: error: the semaphores of the target cannot count 'p'\n"
        "  rule: a semaphore holds at least one signal"
    )


def test_compiled_simulator_refuses_narrow_semaphores() -> None:
    with pytest.raises(InvalidInput, match="knows no semaphores of fewer than 32 bits"):
        simulate(synchronize(PAIR, narrow(8)), {"n": 3}, TARGET, "compiled")


def one_bit(program: Program) -> SyncProgram:
    return synchronize(program, narrow(1))


def test_semaphores_of_one_bit_are_enough() -> None:
    assert check(one_bit(PAIR), {"n": 5}).verdict == "exact"
    assert violated(one_bit(ROTATING), {"n": 5}) == ""
