"""A machine with three engines, eight semaphores, and waits that compare with constants only."""

from __future__ import annotations

from dataclasses import replace

from headway.targets import Count, Figure
from headway.targets.generic import TARGET as GENERIC
from headway.targets.target import EngineModel, Semaphores

SHEET = "data sheet of the NPU, invented for this example"


def _engine(name: str, hosts_queues: bool = False) -> EngineModel:
    return EngineModel(
        name,
        clock=Figure(1, f"{SHEET}: 1 GHz"),
        pipelined=False,
        drain=Figure(0, f"{SHEET}: results are written at once"),
        trigger=Figure(20, f"{SHEET}: a store to a door bell") if hosts_queues else None,
    )


TARGET = replace(
    GENERIC,
    name="npu",
    description="an NPU that this example invents",
    engines=(_engine("cube"), _engine("vector"), _engine("mover", hosts_queues=True)),
    default=Figure(100, "assumed: a round number"),
    semaphores=Semaphores(
        count=Count(8, f"{SHEET}: eight semaphores"),
        width=Count(16, f"{SHEET}: 16 bits"),
        is_signed=False,
    ),
    waits_per_instruction=Count(1, f"{SHEET}: one wait per instruction"),
    registers=Count(16, f"{SHEET}: sixteen registers"),
    has_register_thresholds=False,
    has_register_sums=False,
    sequencer=replace(
        GENERIC.sequencer,
        hop=Figure(30, "assumed: in 10 to 100 ns"),
        wait=Figure(10, "assumed: one instruction"),
        register=Figure(10, "assumed: one instruction"),
        loop=Figure(20, "assumed: two instructions"),
    ),
)
