"""The benchmark as users run it: from the command line, and on a cluster of two workers."""

import json
from pathlib import Path

import pytest
from command_line import Cli

from headway.bench.points import points

distributed = pytest.importorskip("distributed", reason="Dask is not installed (extra `cluster`)")


def test_bench_writes_figures_a_page_and_pictures(cli: Cli, tmp_path: Path) -> None:
    results, page = tmp_path / "results", tmp_path / "page"
    done = cli(
        *("bench", "--quick", "--kernels", "gather,sync-chain", "--jobs", "1"),
        *("--results", str(results), "--page", str(page)),
    )
    assert done.code == 0, done.err
    found = json.loads((results / "suite.json").read_text())
    assert {point["kernel"] for point in found} == {"gather", "sync-chain"}
    assert {"kernel", "target", "params", "strategies"} <= found[0].keys()
    assert done.out.startswith("# Results\n")
    assert sorted(path.name for path in (page / "images").iterdir()) == [
        *("chain.svg", "excess.svg", "saved.svg"),
    ]


def test_bench_runs_on_two_workers_of_a_cluster(cli: Cli, tmp_path: Path) -> None:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        done = cli(
            *("bench", "--quick", "--kernels", "gather", "--json"),
            *("--results", str(tmp_path), "--scheduler", cluster.scheduler_address),
        )
    assert done.code == 0, done.err
    wanted = len(list(points(("gather",), quick=True)))
    assert len(json.loads(done.out)["points"]) == wanted
    assert f"{wanted} of {wanted}" in done.err


def test_a_scheduler_that_is_not_there_is_an_error(cli: Cli, tmp_path: Path) -> None:
    done = cli(
        *("bench", "--quick", "--kernels", "gather", "--results", str(tmp_path)),
        *("--scheduler", "tcp://127.0.0.1:9"),
    )
    assert done.code == 1
    assert "no Dask scheduler answers at 'tcp://127.0.0.1:9'" in done.err
