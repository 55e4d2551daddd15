import json
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from headway import kernels, targets
from headway.bench import allocation
from headway.bench.page import excess, geometric, page, saved
from headway.bench.points import Point, points
from headway.bench.run import measured
from headway.errors import InvalidInput
from headway.targets.spread import COSTS, spread


class Here(Executor):
    """Run in this process, at once; stop after so many."""

    def __init__(self, most: int = 1000) -> None:
        self.most = most
        self.done: list[Point] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if len(self.done) >= self.most:
            future.set_exception(KeyboardInterrupt())
        else:
            self.done.append(args[0])
            future.set_result(fn(*args, **kwargs))
        return future


POINTS = [Point("suite", "gather", "trn2"), Point("suite", "gather", "trn1")]


def quiet(words: str) -> None:
    del words


def result(kernel: str, ideal: float, barrier: float, counted: float, **other: Any) -> Any:
    registers: dict[str, int] = {}
    latencies = {"ideal": ideal, "barrier": barrier, "counted": counted}
    return {
        "table": "tiles",
        "kernel": kernel,
        "target": "trn2",
        "params": {"tiles": 1, "buffers": 2},
        "costs": "default",
        "without": [],
        "strategies": {
            name: {"latency_ns": ns, "waits": 0, "registers": registers}
            for name, ns in latencies.items()
        },
        **other,
    }


@pytest.mark.thorough
def test_every_kernel_is_measured_on_every_target() -> None:
    suite = {(p.kernel, p.target) for p in points() if p.table == "suite"}
    assert suite == {(k, t) for k in kernels.names() for t in ("trn1", "trn2", "trn3")}
    assert len(set(points())) == len(list(points()))


def test_all_points_of_a_kernel_do_the_same_work() -> None:
    def stores(tiles: int) -> int:
        kernel = kernels.load("gather")
        program = kernel.program(tiles=tiles)
        n = kernel.usual(program, tiles, 4)["n"]
        assert isinstance(n, int)
        return n * tiles

    assert {stores(tiles) for tiles in (1, 2, 4, 8)} == {96}
    moe = kernels.load("moe")
    assert moe.usual(moe.program(tiles=4), 4, 4) == moe.inputs
    assert moe.usual(moe.program(tiles=8), 8, 4)["blocks"] == [1, 0, 2, 1, 2, 0, 1, 1]


@pytest.mark.thorough
def test_point_holds_what_it_is_and_what_was_measured() -> None:
    params = (("tiles", 2), ("buffers", 2))
    point = Point("options", "gather", "trn2", params, without=("hoisting",))
    found = point.measure()
    assert point.title == "gather on trn2 (tiles=2, buffers=2, without hoisting)"
    assert found["kernel"] == "gather"
    assert found["params"] == {"tiles": 2, "buffers": 2}
    assert found["inputs"] == {"n": 48}
    assert list(found["strategies"]) == ["ideal", "barrier", "counted", "hoisting"]
    assert json.loads(json.dumps(found)) == {**found, "strategies": found["strategies"]}


@pytest.mark.thorough
def test_what_was_measured_is_not_measured_again(tmp_path: Path) -> None:
    first, second = Here(), Here()
    before = measured(POINTS, tmp_path, first, quiet)
    assert measured(POINTS, tmp_path, second, quiet) == before
    assert (first.done, second.done) == (POINTS, [])
    assert [found["target"] for found in before] == ["trn2", "trn1"]


@pytest.mark.thorough
def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        measured(POINTS, tmp_path, Here(most=1), quiet)
    rest = Here()
    measured(POINTS, tmp_path, rest, quiet)
    assert len(rest.done) <= 1 or rest.done == POINTS  # the first may not have been written yet


@pytest.mark.thorough
def test_a_broken_file_is_measured_again(tmp_path: Path) -> None:
    measured(POINTS[:1], tmp_path, Here(), quiet)
    (path,) = tmp_path.glob("*.json")
    path.write_text(path.read_text()[:50])
    again = Here()
    measured(POINTS[:1], tmp_path, again, quiet)
    assert again.done == POINTS[:1]


def test_saved_and_excess_are_over_barriers_and_over_the_ideal_machine() -> None:
    one = result("a", 100, 200, 110)
    assert saved(one) == pytest.approx(0.45)
    assert excess(one) == pytest.approx(0.1)
    assert geometric([1, 4]) == pytest.approx(2)


@pytest.mark.thorough
def test_the_page_names_every_point_at_which_barriers_are_faster() -> None:
    text = page([result("a", 100, 200, 110), result("b", 100, 120, 126)])
    assert "| a | 45% |" in text
    assert "| in 10-45 % | 1 of 2 |" in text
    assert "slower than `barrier` in 1 of 2 points; b (tiles=1, buffers=2): 5.0%." in text


def test_the_page_shows_a_kernel_and_its_nki_source_side_by_side() -> None:
    text = result("a", 100, 200, 110, table="suite", instructions=4)
    for strategy in ("barrier-always", "flags", "phase", "scoreboard"):
        text["strategies"][strategy] = text["strategies"]["barrier"]
    source = result("a", 100, 240, 120, table="nki", instructions=5)
    shown = page([text, source])
    assert "| a | 4 / 5 | 200 ns / 240 ns | 110 ns / 120 ns | 45% / 50% | 10.0% / 20.0% |" in shown
    assert "trn2: saved 50% to 50%, median 50%; excess 20.0% in the geometric mean" in shown


def test_automatic_buffers_that_are_slower_are_explained() -> None:
    def side(ns: float, ideal: float) -> dict[str, float]:
        return {"latency_ns": ns, "ideal_ns": ideal, "sbuf": 8, "psum": 0}

    found = {"kernel": "a", "package": "", "hand": side(100, 90), "automatic": side(110, 95)}
    shown = allocation.section([found, {**found, "automatic": side(100, 90)}])
    assert "as fast or faster in 1 of 2." in shown
    assert shown.count("`a`: the ideal machine takes 90 ns with the buffers by hand and 95 ns") == 1


@pytest.mark.parametrize("name", ["trn1", "trn2", "trn3"])
def test_costs_of_targets_lie_between_the_ends_of_their_ranges(name: str) -> None:
    low, middle, high = (spread(targets.load(name), costs) for costs in COSTS)
    for field in ("issue", "hop", "wait", "register", "branch", "loop", "refetch", "load", "flag"):
        ends = [getattr(target.sequencer, field) for target in (low, middle, high)]
        assert ends == sorted(ends), field
    for field in ("rendezvous", "reset"):
        ends = [getattr(target.barrier, field) for target in (low, middle, high)]
        assert ends == sorted(ends), field
    assert low.dma.dispatch <= middle.dma.dispatch <= high.dma.dispatch


def test_unknown_costs_are_an_error() -> None:
    with pytest.raises(InvalidInput, match="unknown costs 'bad'"):
        spread(targets.load("trn2"), "bad")
