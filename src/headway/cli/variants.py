"""One NKI kernel with several kinds of allocation, strategy by strategy side by side."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from headway.cli.arguments import chosen_passes, chosen_strategies
from headway.cli.inputs import chosen_target, parse_inputs, resolve
from headway.cli.kernel_arguments import recorded, traced
from headway.comparison import Comparison, aligned, duration
from headway.compiler import compare
from headway.progress import Progress


@dataclass(frozen=True, slots=True)
class Variant:
    """What came out with one kind of allocation, and the bytes that tiles take of a partition."""

    comparison: Comparison
    sbuf: int | None
    psum: int | None

    def to_json(self) -> dict[str, object]:
        """Return the documented JSON form."""
        return {"sbuf_bytes": self.sbuf, "psum_bytes": self.psum, **self.comparison.to_json()}


def variants(args: Namespace) -> dict[str, Variant]:
    """Compare strategies for each of `--buffers A,B`, on one trace. Raise HeadwayError."""
    names, passes = chosen_strategies(args.strategies), chosen_passes(args.passes)
    target = chosen_target(args.target, args.limit)
    trace = recorded(args)
    found: dict[str, Variant] = {}
    for buffers in args.buffers.split(","):
        kernel = traced(args, trace, buffers)
        inputs = resolve(kernel.program, parse_inputs(args.input))
        comparison = compare(
            kernel.program,
            inputs,
            target,
            names,
            progress=Progress(),
            passes=passes,
            cost=args.cost,
            why=args.why,
        )
        used = kernel.values.bytes_used
        found[buffers] = Variant(comparison, used("sbuf"), used("psum"))
    return found


def text(found: Mapping[str, Variant]) -> str:
    """Return the table: latencies by strategy and allocation, and what each says beside it."""
    first = next(iter(found.values())).comparison
    return "\n".join([first.title, *aligned(list(_rows(found))), *_notes(found)])


def _rows(found: Mapping[str, Variant]) -> Iterator[list[str]]:
    yield ["buffers", *found]
    yield ["bytes of sbuf", *(_count(variant.sbuf) for variant in found.values())]
    yield ["bytes of psum", *(_count(variant.psum) for variant in found.values())]
    names = dict.fromkeys(name for v in found.values() for name in v.comparison.strategies)
    for name in names:
        measured = (variant.comparison.strategies.get(name) for variant in found.values())
        yield [name, *(duration(m.latency_ns) if m else "-" for m in measured)]


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def _notes(found: Mapping[str, Variant]) -> Iterator[str]:
    by_note: dict[str, list[str]] = {}
    for buffers, variant in found.items():
        for note in variant.comparison.notes():
            by_note.setdefault(note, []).append(buffers)
    for note, where in by_note.items():
        yield note if len(where) == len(found) else f"{', '.join(where)}: {note}"
