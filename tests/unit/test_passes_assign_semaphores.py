"""Semaphores are given to the counters that something waits for, and to no others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headway.check import check
from headway.compiler import synchronize
from headway.errors import UnsupportedByTarget
from headway.ir import parse
from headway.passes.assign_semaphores import PASS
from headway.sim import simulate
from headway.sync import parse_sync, to_text
from headway.sync.program import Semaphore
from headway.targets.generic import TARGET

PROGRAM = parse("""program @p { input n engine A engine B engine C queue Q on A buffer b buffer c
  loop i n { A ld triggers(Q) writes(b) B p reads(b) writes(c) C x } }""")
CELLS = replace(TARGET.semaphores, width=16, is_signed=True)


def test_counter_that_nobody_waits_for_has_no_semaphore() -> None:
    synced = synchronize(PROGRAM, replace(TARGET, semaphores=CELLS))
    assert synced.semaphores == (Semaphore(0, "B", 16, True), Semaphore(1, "Q", 16, True))
    assert "  semaphore 0 counts B width 16 signed\n" in to_text(synced)
    assert parse_sync(to_text(synced)) == synced


def test_semaphores_that_are_never_full_are_not_named() -> None:
    assert synchronize(PROGRAM, TARGET).semaphores == ()


def test_as_many_as_there_are_can_be_used_and_no_more() -> None:
    two = replace(TARGET, semaphores=replace(CELLS, count=2))
    assert len(synchronize(PROGRAM, two).semaphores) == 2
    one = replace(TARGET, semaphores=replace(CELLS, count=1))
    with pytest.raises(UnsupportedByTarget) as caught:
        PASS.apply(synchronize(PROGRAM, TARGET), one)
    assert str(caught.value) == (
        "error: 2 semaphores are needed, for B, Q\n"
        "  rule: target 'generic' has 1\n"
        "  help: let transfers share a queue, or give the work to fewer engines"
    )


def test_flags_take_semaphores_too() -> None:
    few = replace(TARGET, semaphores=replace(CELLS, count=1))
    with pytest.raises(UnsupportedByTarget, match="2 semaphores are needed, for flag"):
        PASS.apply(synchronize(PROGRAM, TARGET, "flags"), few)
    assert synchronize(PROGRAM, replace(few, semaphores=CELLS), "flags").semaphores == ()


def test_neuron_targets_name_their_semaphores() -> None:
    program = parse("""program @p { queue q on sync buffer x
      sync ld triggers(q) writes(x) takes(5) vector add reads(x) takes(5) }""")
    assert synchronize(program, "trn2").semaphores == (Semaphore(0, "q", 32, True),)


@pytest.mark.thorough
def test_fewer_semaphores_never_make_a_program_faster_and_none_are_refused() -> None:  # T19
    chain = parse("""program @p { input n engine A engine B engine C buffer b slots 2
      buffer c slots 2 loop i n { A w writes(b[i % 2]) B p reads(b[i % 2]) writes(c[i % 2])
      C r reads(c[i % 2]) } }""")
    latencies: list[float] = []
    for count in range(6):
        cells = replace(CELLS, count=count, width=64)
        synced = synchronize(chain, replace(TARGET, semaphores=cells))
        assert check(synced, {"n": 6}).verdict in ("exact", "late")
        latencies.append(simulate(synced, {"n": 6}, TARGET).latency)
    assert latencies == sorted(latencies, reverse=True)
    assert latencies[0] > latencies[-1]
