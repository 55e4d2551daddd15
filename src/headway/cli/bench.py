"""`headway bench`: measure the suite of kernels and write the page of results."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from itertools import chain
from pathlib import Path
from typing import Any

from headway.cli.arguments import add_command, add_json, chosen_kernels, positive
from headway.errors import InvalidInput


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser: ArgumentParser = add_command(
        subparsers,
        "bench",
        "measure the suite of kernels over tiles, slots, targets and costs",
        "headway bench --quick --kernels softmax,matmul",
        "headway bench --page docs --jobs 2",
        "headway bench --calibration --quick",
        "headway bench --scheduler tcp://10.0.0.1:8786",
    )
    parser.add_argument("--kernels", metavar="A,B", help="only these (see: headway list kernels)")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a few points of each kernel; with --calibration, those of the loop",
    )
    parser.add_argument(
        "--calibration", action="store_true", help="the model beside published times instead"
    )
    parser.add_argument(
        "--jobs", type=positive, metavar="N", help="processes (default: one per core)"
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="measure on the workers of this Dask scheduler"
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("results"),
        metavar="FOLDER",
        help="keep what is measured here, and take from here what is already (default: results)",
    )
    parser.add_argument(
        "--page",
        type=Path,
        metavar="FOLDER",
        help="write results.md and its pictures here, or the table of timing.md",
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command."""
    try:
        return _calibration(args) if args.calibration else _suite(args)
    except OSError as error:
        if error.filename is None:  # a closed pipe, a full disk
            raise
        message = f"cannot use {str(error.filename)!r}: {str(error.strerror).lower()}"
        raise InvalidInput(message) from None


def _suite(args: Namespace) -> int:
    from headway import kernels
    from headway.bench.allocation import points as allocated
    from headway.bench.page import page
    from headway.bench.points import points
    from headway.bench.run import executor, measured
    from headway.cli.files import print_json

    chosen = tuple(chosen_kernels(args.kernels) or ())
    for name in chosen:
        kernels.load(name)  # an unknown name is an error before anything is measured
    folder: Path = args.results
    with executor(args.jobs, args.scheduler) as pool:
        buffers = () if chosen or args.quick else allocated()
        wanted = chain(points(chosen, args.quick), buffers)
        results = measured(wanted, folder / "points", pool, _say)
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(results, indent=2)
    (folder / "suite.json").write_text(f"{text}\n", encoding="utf-8")
    if args.page:
        _write(args.page, results)
    if args.json:
        print_json({"points": results})
    else:
        print(page(results))
    return 0


def _calibration(args: Namespace) -> int:
    from headway.bench.calibration import points, report
    from headway.bench.run import executor, measured
    from headway.bench.tables import put
    from headway.cli.files import print_json

    with executor(args.jobs, args.scheduler) as pool:
        results = measured(points(args.quick), args.results / "points", pool, _say)
    if args.page:
        put(args.page / "timing.md", "calibration", report(results))
    if args.json:
        print_json({"points": results})
    else:
        print(report(results))
    return 0


def _write(folder: Path, results: list[dict[str, Any]]) -> None:
    from headway.bench.page import page

    try:
        from headway.bench.pictures import draw

        pictures = draw(results, folder / "images")
    except ImportError:
        _say("no pictures: matplotlib is not installed (the extra `docs`)")
        pictures = ()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.md").write_text(page(results, pictures), encoding="utf-8")


def _say(words: str) -> None:
    print(words, file=sys.stderr)
