"""Random bodies with regions: gathered, or refused because the region would wait for itself."""

from __future__ import annotations

import random

import pytest
from budget import programs

from headway.check import check
from headway.check.fuzz import violation
from headway.compiler import fit
from headway.errors import InvalidProgram, UnsupportedByTarget
from headway.ir import parse, to_text
from headway.ir.program import Program
from headway.ir.walk import instructions
from headway.passes.gather_regions import gathered
from headway.sim import simulate
from headway.targets.generic import TARGET
from headway.targets.limits import limited

pytestmark = pytest.mark.property

PROGRAMS = programs(one_in=100, least=24)
PARTS = 4
STRATEGIES = ("counted", "scoreboard", "barrier", "flags", "phase")
LIMITS: tuple[dict[str, int], ...] = (
    {},
    {"registers": 2, "sums": 0, "waits": 1},
    {"width": 4, "signed": 0},
    {"updates": 0},
)


def body(seed: int) -> Program:
    """Return a loop whose body has many instructions of few engines, some fused, some silent."""
    dice = random.Random(seed)
    last: dict[str, str] = {}
    lines: list[str] = []
    for number in range(dice.randint(6, 14)):
        engine = dice.choice("ABC")
        counter = "Q" if engine == "A" and dice.random() < 0.3 else engine
        fused = " fused" if last.get(engine) == counter and dice.random() < 0.6 else ""
        last[engine] = counter
        clauses = [f"triggers({counter})"] if counter == "Q" else []
        clauses += [f"reads({_slot(dice)})"] * (dice.random() < 0.7)
        clauses += [f"writes({_slot(dice)})"] * (dice.random() < 0.6)
        clauses += ["silent"] * (dice.random() < 0.2)
        takes = dice.choice((1, 5, 20, 50))
        lines.append(f"{engine} x{number} {' '.join(clauses)} takes({takes}){fused}")
    kinds = [dice.choice(("", " pipelined")) for _ in range(2)]
    return parse(
        f"program @p {{ input n engine A{kinds[0]} engine B{kinds[1]} engine C queue Q on A\n"
        f"buffer b slots 2 buffer c slots 3 buffer d\nloop i n {{ {chr(10).join(lines)} }} }}"
    )


def _slot(dice: random.Random) -> str:
    return dice.choice(("b[i % 2]", "b[(i + 1) % 2]", "c[i % 3]", "c[(i + 1) % 3]", "d"))


def needs_itself(program: Program) -> bool:
    try:
        gathered(program)
    except UnsupportedByTarget:
        return True
    return False


@pytest.mark.parametrize("part", range(PARTS))
def test_regions_are_never_early_and_never_stand_still(part: int) -> None:
    hoisted = 0
    for seed in range(part, PROGRAMS, PARTS):
        program, limits = body(seed), LIMITS[seed // PARTS % len(LIMITS)]
        if needs_itself(program):
            continue
        for strategy in STRATEGIES:
            synced, report = fit(program, limited(TARGET, limits), strategy)
            hoisted += any(concession.kind == "region" for concession in report.concessions)
            for n in (1, 6):
                verdict = check(synced, {"n": n})
                where = f"seed {seed}, {strategy}, {limits}: {verdict}\n{to_text(program)}"
                assert verdict.verdict in ("exact", "late"), where
                tracks = simulate(synced, {"n": n}, TARGET).tracks
                times = {track.counter: [(t.issue, t.done) for t in track] for track in tracks}
                assert violation(synced.program, {"n": n}, times) == "", where
    assert hoisted > 0


def test_region_is_refused_only_if_waiting_in_front_of_it_is_a_deadlock() -> None:
    refused = 0
    for seed in range(60):
        program = body(seed)
        if not needs_itself(program):
            continue
        refused += 1
        with pytest.raises(UnsupportedByTarget):
            fit(program, TARGET)
    assert 0 < refused < 60


def test_mutants_without_hoisting_are_not_well_formed() -> None:
    """The passes are what keeps waits out: without hoist-waits the rule is broken, and said so."""
    messages: list[str] = []
    for seed in range(24):
        program = body(seed)
        if needs_itself(program) or not any(i.fused for i in instructions(program.body)):
            continue
        try:
            fit(program, TARGET, "scoreboard", ["settle-thresholds"])
        except InvalidProgram as error:
            messages.append(str(error))
    assert len(messages) > 5
    assert all("rule: no wait stands inside a region" in message for message in messages)
