"""Transfers of one engine share a queue where semaphores are too few."""

from __future__ import annotations

import pytest

from headway.check import check
from headway.fitting import fit
from headway.ir import parse
from headway.ir.walk import instructions
from headway.passes.merge_queues import merged
from headway.sim import simulate
from headway.targets import bind
from headway.targets.generic import TARGET
from headway.targets.limits import limited

LOADS = parse("""program @p {
  input n engine A engine B queue a on A queue b on A queue c on B queue d on A
  buffer x slots 2 buffer y slots 2 buffer z slots 2
  loop i n {
    A la triggers(a) writes(x[i % 2]) takes(50)
    A lb triggers(b) writes(y[i % 2]) takes(50)
    A ld triggers(b) writes(z[i % 2]) takes(50)
    B use reads(x[i % 2], y[i % 2], z[i % 2]) takes(20)
    B st triggers(c) reads(x[i % 2]) takes(50)
    if n > 100 { A more triggers(d) writes(x[i % 2]) takes(5) }
  } }""")


def test_the_two_queues_with_the_fewest_transfers_become_one() -> None:
    bound = bind(LOADS, TARGET)
    once = merged(bound)
    assert once
    program, concession = once
    assert [queue.name for queue in program.queues] == ["a", "b", "c"]
    assert {i.name: i.queue for i in instructions(program.body) if i.queue} == {
        "la": "a",
        "lb": "b",
        "ld": "b",
        "st": "c",
        "more": "a",
    }
    assert str(concession) == "A: transfers of d run in queue a: too few semaphores"
    twice = merged(program)
    assert twice
    assert [queue.name for queue in twice[0].queues] == ["a", "c"]
    assert merged(twice[0]) is None  # the other queue has another host


@pytest.mark.thorough
def test_fewer_semaphores_merge_queues_and_never_make_a_program_faster() -> None:
    latencies: list[float] = []
    for count in range(8):
        target = limited(TARGET, {"semaphores": count})
        synced, report = fit(LOADS, target, inputs={"n": 9})
        assert report.semaphores <= count
        assert check(synced, {"n": 9}).verdict in ("exact", "late")
        latencies.append(simulate(synced, {"n": 9}, target).latency)
    assert latencies == sorted(latencies, reverse=True)
    assert latencies[0] > latencies[-1]
