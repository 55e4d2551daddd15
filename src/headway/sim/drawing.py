"""Draw timelines as SVG: for notebooks, and for the pictures of the documentation.

One row for each engine and queue, a bar for each instance, lighter in every second iteration of the
outermost loop. If the run kept a log (`simulate(..., detail=True)`), arrows lead from a completion
to each instance that waited for it, and dashed lines are barriers. Bars that would be narrower than
a hair are drawn as one, so that a drawing stays small, however long the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from headway.sim.log import Signal
from headway.sim.run import Run
from headway.sim.timeline import PS, Timed, Timeline, Track

# Okabe and Ito's colours can be told apart by colour-blind people.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999933")
PALE = ("#E69F00", "#CC79A7", "#56B4E9", "#999933")
INK, GREY = "#222222", "#8a8a8a"
LEFT, RIGHT, TITLE, ROW, BAR, AXIS = 96, 12, 24, 26, 18, 34
HAIR = 0.5
CHARACTER = 6.4
MOST_ARROWS = 80
MOST_INSTANCES = 200_000
"""A longer run is not drawn in a notebook: that would take seconds."""

# A style inside a page holds for all of it, so that its names are our own.
STYLE = (
    ".hw text{font:12px system-ui,sans-serif;fill:#222222}.hw .hw-title{font-weight:600}"
    ".hw .hw-name{font-size:11px;fill:white}.hw .hw-dark{fill:#222222}.hw .hw-mark{fill:#666666}"
)


class _Scale(NamedTuple):
    """Where a time in ns lies."""

    width: int
    until: float

    def x(self, ns: float) -> float:
        return LEFT + ns / (self.until or 1) * (self.width - LEFT - RIGHT)


def svg(*timelines: Timeline, width: int = 760) -> str:
    """Return the drawing of timelines below each other, all to one scale."""
    scale = _Scale(width, max(t.latency for t in timelines))
    parts, top = list[str](), 0.0
    for timeline in timelines:
        tracks = [track for track in timeline.tracks if len(track)]
        parts += _panel(timeline, tracks, scale, top)
        top += TITLE + ROW * len(tracks) + 10
    parts += _axis(scale, top)
    height = top + AXIS
    return (
        f'<svg class="hw" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}"'
        f' width="{width}" height="{height:.0f}" style="max-width:100%;height:auto"'
        f' role="img" aria-label="{escape(_summary(timelines))}">'
        f"<style>{STYLE}</style>{_HEAD}"
        f'<rect width="{width}" height="{height:.0f}" rx="4" fill="white"/>'
        + "\n".join(parts)
        + "</svg>\n"
    )


_HEAD = (
    '<defs><marker id="hw-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7"'
    f' markerHeight="7" orient="auto"><path d="M0 0.5L8 4L0 7.5z" fill="{INK}"/></marker></defs>'
)


def _summary(timelines: tuple[Timeline, ...]) -> str:
    runs = ", ".join(f"{t.strategy} {t.latency:,.0f} ns" for t in timelines)
    return f"timeline of {timelines[0].program} on {timelines[0].target}: {runs}"


def _panel(timeline: Timeline, tracks: list[Track], scale: _Scale, top: float) -> Iterator[str]:
    title = f"{timeline.strategy}: {timeline.latency:,.0f} ns"
    yield f'<text class="hw-title" x="{LEFT}" y="{top + 16:.0f}">{escape(title)}</text>'
    for row, track in enumerate(tracks):
        middle = top + TITLE + ROW * (row + 0.5)
        name = escape(track.counter)
        yield f'<text x="{LEFT - 8}" y="{middle + 4:.1f}" text-anchor="end">{name}</text>'
        yield _line(LEFT, scale.width - RIGHT, middle + ROW / 2, middle + ROW / 2, "#e6e6e6")
        yield from _bars(track, COLOURS[row % len(COLOURS)], scale, middle)
    bottom = top + TITLE + ROW * len(tracks)
    end = scale.x(timeline.latency)
    yield _line(end, end, top + TITLE, bottom, INK)
    if timeline.log is not None:
        for ps in timeline.log.meetings:
            x = scale.x(ps / PS)
            yield _line(x, x, top + TITLE, bottom, GREY, ' stroke-dasharray="3 3"')
        yield from _arrows(Run(timeline), tracks, scale, top + TITLE)


def _bars(track: Track, colour: str, scale: _Scale, middle: float) -> Iterator[str]:
    """Yield a bar for each instance; those that would be too narrow are one bar."""
    low = high = None
    for instance in track:
        begin, end = scale.x(instance.start), scale.x(instance.done)
        if end - begin >= HAIR * 2:
            yield _instance(instance, begin, end, colour, middle)
        elif low is None or high is None or begin - high > HAIR:
            if low is not None and high is not None:
                yield _rect(low, high, middle, colour, 1)
            low, high = begin, end
        else:
            high = end
    if low is not None and high is not None:
        yield _rect(low, high, middle, colour, 1)


def _instance(instance: Timed, begin: float, end: float, colour: str, middle: float) -> str:
    is_light = bool(instance.iteration) and instance.iteration[0] % 2 == 0
    name = str(instance) if instance.iteration else instance.name
    hint = f"{name}: {instance.start:,.0f} to {instance.done:,.0f} ns"
    bar = _rect(begin, end, middle, colour, 0.55 if is_light else 1, hint)
    for text in (name, instance.name):
        if CHARACTER * len(text) < end - begin:
            dark = " hw-dark" if is_light or colour in PALE else ""
            at = f'x="{(begin + end) / 2:.1f}" y="{middle + 4:.1f}" text-anchor="middle"'
            return f'{bar}<text class="hw-name{dark}" {at}>{escape(text)}</text>'
    return bar


def _rect(
    begin: float, end: float, middle: float, colour: str, opacity: float, hint: str = ""
) -> str:
    title = f"<title>{escape(hint)}</title>" if hint else ""
    return (
        f'<rect x="{begin:.1f}" y="{middle - BAR / 2:.1f}" width="{max(end - begin, HAIR):.1f}"'
        f' height="{BAR}" fill="{colour}" fill-opacity="{opacity}">{title}</rect>'
    )


def _arrows(run: Run, tracks: list[Track], scale: _Scale, top: float) -> Iterator[str]:
    """Yield an arrow from each completion to each instance that waited for it, if they are few."""
    row = {track.counter: top + ROW * (n + 0.5) for n, track in enumerate(tracks)}
    found: list[str] = []
    for track in tracks:
        counter = run.model.number[track.counter]
        waits, log = run.engine(run.owner(counter)).waits, run.counter(counter)
        for start, first, end in zip(track.start, log.first_wait, log.end_wait, strict=True):
            for wait in range(first, end):
                signal = Signal(waits.counters[wait], waits.positions[wait])
                source = run.instance(signal) if signal.position > 0 else None
                if source:
                    begin = scale.x(run.done(source) / PS), row[run.model.name(source.counter)]
                    found.append(_arrow(*begin, scale.x(start / PS), row[track.counter]))
    if len(found) <= MOST_ARROWS:
        yield from found


def _arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    side = BAR / 2 if to_y > y else -BAR / 2
    y, to_y = y + side, to_y - side
    return (
        f'<path d="M{x:.1f} {y:.1f}C{x:.1f} {(y + to_y) / 2:.1f} {to_x:.1f} {(y + to_y) / 2:.1f}'
        f' {to_x:.1f} {to_y:.1f}" fill="none" stroke="{INK}" stroke-width="1"'
        ' marker-end="url(#hw-head)"/>'
    )


def _axis(scale: _Scale, top: float) -> Iterator[str]:
    yield _line(LEFT, scale.width - RIGHT, top, top, GREY)
    step = _step(scale.until)
    unit, size = ("us", 1000) if scale.until >= 10_000 else ("ns", 1)
    for tick in range(int(scale.until / step) + 1):
        x = scale.x(tick * step)
        yield _line(x, x, top, top + 4, GREY)
        label = f"{tick * step / size:,g}" + (f" {unit}" if tick == 0 else "")
        at = f'x="{x:.1f}" y="{top + 18:.0f}" text-anchor="middle"'
        yield f'<text class="hw-mark" {at}>{label}</text>'


def _step(until: float) -> int:
    """Return the distance of marks: 1, 2 or 5 times a power of ten, for at most ten of them."""
    power = 1
    while True:
        for first in (1, 2, 5):
            if until <= 10 * first * power:
                return first * power
        power *= 10


def _line(x: float, to_x: float, y: float, to_y: float, colour: str, more: str = "") -> str:
    return (
        f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{colour}"{more}/>'
    )
