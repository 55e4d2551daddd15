"""A small machine on which everything costs another time, for times worked out by hand."""

from dataclasses import replace

from headway import targets
from headway.sync import parse_sync
from headway.sync.program import SyncProgram
from headway.targets import Figure
from headway.targets.target import BarrierSequence, EngineModel

GENERIC = targets.load("generic")


def ns(value: float) -> Figure:
    return Figure(value, "this test")


COSTLY = replace(
    GENERIC,
    name="costly",
    engines=tuple(
        EngineModel(name, ns(1), pipelined=True, drain=ns(0), trigger=ns(9)) for name in "ABC"
    ),
    waits_per_instruction=targets.Count(1, "this test"),
    has_register_sums=False,
    sequencer=replace(
        GENERIC.sequencer,
        issue=ns(1),
        hop=ns(3),
        wait=ns(2),
        register=ns(4),
        branch=ns(5),
        loop=ns(6),
        refetch=ns(10),
        load=ns(20),
        flag=ns(8),
    ),
    barrier=BarrierSequence(rendezvous=ns(30), reset=ns(7)),
    dma=replace(GENERIC.dma, dispatch=ns(50), setup=ns(5), notify=ns(15)),
)


def parsed(text: str) -> SyncProgram:
    """Return `sequential program --- engine programs`."""
    program, engines = text.split("---")
    return parse_sync(
        f"sync @p strategy manual target generic {{ program @p {{ {program} }} {engines} }}",
        "p.hwy",
    )
