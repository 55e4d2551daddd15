"""The report in a browser: what it shows is what the simulator, the specification and --why say."""

import json
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headway import kernels, simulate, synchronize
from headway.report.collect import collect
from headway.report.html import page
from headway.sim import Timed, Timeline
from headway.sim.attribution import attribute
from headway.spec import required
from headway.targets import bind, load

if TYPE_CHECKING:
    from conftest import Opened
    from playwright.sync_api import Locator, Page

KERNEL, TARGET, INPUTS = "matmul", "trn2", {"m": 2, "n": 2, "k": 4}
STRATEGIES = ("barrier", "counted", "flags")
MARGIN = 1.01
"""What is in view at first, in latencies of the longest run."""


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    program = kernels.load(KERNEL).program()
    path.write_text(page(collect(program, INPUTS, TARGET, STRATEGIES)), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def runs() -> dict[str, Timeline]:
    program = kernels.load(KERNEL).program()
    return {
        name: simulate(synchronize(program, TARGET, name), INPUTS, detail=True)
        for name in STRATEGIES
    }


@pytest.fixture
def shown(opened: "Opened", report: Path) -> "Page":
    return ready(opened, report)


def ready(opened: "Opened", path: Path) -> "Page":
    found = opened.open(path)
    found.wait_for_selector("html[data-ready=yes]")
    return found


@dataclass
class Panel:
    """The timeline of a strategy: where times and lanes are on the screen."""

    page: "Page"
    strategy: str
    window: tuple[float, float]  # in ns

    @property
    def section(self) -> "Locator":
        return self.page.locator(f".panel[data-strategy={self.strategy}]")

    def point(self, time: float, lane: str, share: float) -> tuple[float, float]:
        """Return where a time in ns is, `share` of the way down a lane."""
        name = self.section.locator(".name", has_text=lane)
        chart = self.section.locator(".u-over")
        name.evaluate("(row) => row.scrollIntoView({ block: 'center' })")
        across, down = chart.bounding_box(), name.bounding_box()
        assert across is not None
        assert down is not None
        begin, end = self.window
        x = across["x"] + (time - begin) / (end - begin) * across["width"]
        return x, down["y"] + share * down["height"]

    def hover(self, time: float, lane: str, share: float = 0.3) -> str:
        """Hover and return what the tip says."""
        self.page.mouse.move(*self.point(time, lane, share))
        return self.page.locator("#tip").inner_text()

    def click(self, time: float, lane: str, share: float = 0.3) -> str:
        """Click and return the details."""
        self.page.mouse.click(*self.point(time, lane, share))
        return self.page.locator("#details").inner_text()


def panel(page: "Page", runs: dict[str, Timeline], strategy: str) -> Panel:
    longest = max(run.latency for run in runs.values())
    return Panel(page, strategy, (0, longest * MARGIN))


def ns(value: float) -> str:
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def inside(instance: Timed) -> float:
    """Return a time, more than a pixel from its start, at which an instance is drawn."""
    return instance.start + min(110, (instance.done - instance.start) / 2)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("lane", "index"), [("tensor", 5), ("a_loads", 3), ("vector", 1)])
def test_hover_names_the_instance_with_its_times(
    shown: "Page", runs: dict[str, Timeline], strategy: str, lane: str, index: int
) -> None:
    instance = list(runs[strategy].track(lane))[index]
    tip = panel(shown, runs, strategy).hover(inside(instance), lane)
    assert str(instance) in tip
    assert f"{ns(instance.start)} to {ns(instance.done)} ns" in tip


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_click_shows_waits_with_what_is_required(
    shown: "Page", runs: dict[str, Timeline], strategy: str
) -> None:
    lane, index = "tensor", 6
    instance = list(runs[strategy].track(lane))[index]
    details = panel(shown, runs, strategy).click(inside(instance), lane)
    assert details.startswith(str(instance))
    for label, time in (("issued", instance.issue), ("completed", instance.done)):
        assert f"{label}\n{ns(time)} ns" in details
    log = runs[strategy].log
    assert log is not None
    number = log.model.number[lane]
    waits = log.engine(lane).waits
    rows = shown.locator(".waits tbody tr").all_inner_texts()
    span = range(log.counters[number].first_wait[index], log.counters[number].end_wait[index])
    assert len(rows) == len(span) > 0
    bound = bind(kernels.load(KERNEL).program(), load(TARGET))
    needs = [need for x, need in required(bound, INPUTS) if x.counter == lane][index]
    for row, wait in zip(rows, span, strict=True):
        condition, needed, stood, _ = row.split("\t")
        counter = log.model.name(waits.counters[wait])
        assert condition == f"{counter} ≥ {waits.thresholds[wait]:,}"
        assert stood == ns(waits.stood[wait] / 1000)
        if strategy == "counted":  # its thresholds count from the beginning
            assert needed == (f"{needs[counter]:,}" if counter in needs else "-")


def test_strip_below_says_why_an_engine_waits(shown: "Page", runs: dict[str, Timeline]) -> None:
    loads = list(runs["counted"].track("a_loads"))
    multiply = next(iter(runs["counted"].track("tensor")))
    tip = panel(shown, runs, "counted").hover(multiply.start / 2, "tensor", 0.85)
    assert tip.startswith("waiting for")
    assert str(loads[0]) in tip or "load_b[0,0,0]" in tip


def test_line_that_an_engine_is_at_is_marked_in_its_program(
    shown: "Page", runs: dict[str, Timeline]
) -> None:
    instance = list(runs["counted"].track("tensor"))[4]
    panel(shown, runs, "counted").click(inside(instance), "tensor")
    assert shown.locator("#program-pane h3").inner_text() == "Program of tensor, counted"
    bar = shown.locator(".current").bounding_box()
    code = shown.locator(".listing pre")
    box, text = code.bounding_box(), code.inner_text().splitlines()
    assert bar is not None
    assert box is not None
    line = text[round((bar["y"] - box["y"] - 6) / bar["height"])]
    assert "multiply" in line


def test_time_of_each_place_is_that_of_compare_why(
    shown: "Page", runs: dict[str, Timeline]
) -> None:
    shown.get_by_role("tab", name="Time").click()
    for place in ("critical path", "tensor"):
        table = shown.locator(".place", has=shown.locator("summary b", has_text=place))
        if place != "critical path":
            table.locator("summary").click()
        rows = [text.split("\t") for text in table.locator("tbody tr").all_inner_texts()]
        for column, strategy in enumerate(STRATEGIES, 1):
            why = attribute(runs[strategy])
            totals = why.path if place == "critical path" else why.engines[place]
            expected = {str(cause): f"{ps / 1000:,.0f}" for cause, ps in totals.items()}
            found = {row[0]: row[column] for row in rows if row[column] != "-"}
            assert {k: abs(number(v) - number(expected[k])) <= 1 for k, v in found.items()} == {
                cause: True for cause in expected
            }


def number(text: str) -> int:
    return int(text.replace(",", ""))


def test_search_counts_and_goes_to_the_next(shown: "Page", runs: dict[str, Timeline]) -> None:
    box = shown.locator("#search")
    box.fill("load_a[1]")
    found = [x for x in runs["counted"].track("a_loads") if x.iteration[0] == 1]
    assert shown.locator("#found").inner_text() == f"{len(found)} in counted"
    for instance in (found[0], found[1]):
        box.press("Enter")
        assert shown.locator("#details h3").inner_text() == str(instance)
    box.press("Shift+Enter")
    assert shown.locator("#details h3").inner_text() == str(found[0])
    box.fill("nothing like it")
    assert shown.locator("#found").inner_text() == "0 in counted"


def view(page: "Page") -> tuple[float, float]:
    """Return what is in view, in ns, once it is painted."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    begin, end = page.evaluate("[headway.view.from / 1000, headway.view.to / 1000]")
    return begin, end


def test_wheel_zooms_about_the_cursor_and_keys_move(
    shown: "Page", runs: dict[str, Timeline]
) -> None:
    target = panel(shown, runs, "counted")
    instance = list(runs["counted"].track("tensor"))[5]
    shown.mouse.move(*target.point(inside(instance), "tensor", 0.3))
    before = view(shown)
    shown.keyboard.down("Control")
    shown.mouse.wheel(0, -400)
    shown.keyboard.up("Control")
    begin, end = view(shown)
    assert end - begin < 0.5 * (before[1] - before[0])
    target.window = (begin, end)
    assert str(instance) in target.hover(inside(instance), "tensor")  # it is where it was
    shown.keyboard.press("w")
    assert view(shown)[1] - view(shown)[0] < end - begin
    shown.keyboard.press("d")
    assert view(shown)[0] > begin
    shown.keyboard.press("0")
    assert view(shown) == before


def test_link_leads_to_what_was_waited_for(shown: "Page", runs: dict[str, Timeline]) -> None:
    instance = list(runs["barrier"].track("tensor"))[2]
    panel(shown, runs, "barrier").click(inside(instance), "tensor")
    shown.locator(".waits a").first.click()
    awaited = shown.locator("#details h3").inner_text()
    assert awaited.startswith("load_")
    marked = """(name) => [...document.querySelectorAll('.panel')].map((panel) => {
      const canvas = panel.querySelector('.above');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return data.some((value) => value > 0);
    })"""
    assert shown.evaluate(marked) == [True, False, False]


def test_counter_is_shown_over_time(shown: "Page", runs: dict[str, Timeline]) -> None:
    shown.locator(".panel[data-strategy=counted] .name", has_text="tensor").click()
    times, values = shown.evaluate("Array.from(headway.counters.chart.data, (x) => Array.from(x))")
    done = list(runs["counted"].track("tensor").done)
    assert times[1 : len(done) + 1] == done
    assert values[: len(done) + 1] == list(range(len(done) + 1))


def test_theme_and_print(shown: "Page") -> None:
    def paper() -> str:
        return shown.evaluate("getComputedStyle(document.body).backgroundColor")

    assert paper() == "rgb(255, 255, 255)"
    shown.keyboard.press("t")
    assert paper() == "rgb(20, 24, 29)"
    shown.emulate_media(media="print")
    for name in ("#inspect", "#time", "#needs"):
        assert shown.locator(name).is_visible()
    assert not shown.locator("#search").is_visible()
    assert shown.evaluate(PRINTED) == [True] * (len(STRATEGIES) + 1)
    assert shown.pdf()[:4] == b"%PDF"


def test_escape_closes_the_keys_and_keeps_what_is_chosen(shown: "Page") -> None:
    shown.evaluate(CHOSEN)
    shown.keyboard.press("?")
    assert shown.locator("#help").is_visible()
    shown.keyboard.press("Escape")
    shown.wait_for_function("!document.querySelector('#help').open")
    assert shown.evaluate("headway.chosen !== null")
    shown.keyboard.press("Escape")
    assert shown.evaluate("headway.chosen === null")


def test_a_narrow_page_shows_what_is_chosen_below_the_timelines(shown: "Page") -> None:
    shown.set_viewport_size({"width": 800, "height": 600})
    shown.evaluate(CHOSEN)
    details = shown.locator("#details").bounding_box()
    code = shown.locator("#inspect .listing").bounding_box()
    assert details
    assert code
    assert details["height"] > 150
    assert code["height"] > 100
    timelines = shown.locator("#left").bounding_box()
    assert timelines
    assert details["y"] >= timelines["y"] + timelines["height"]
    shown.locator("#inspect .listing").scroll_into_view_if_needed()
    assert shown.evaluate("document.documentElement.scrollWidth") == 800


CHOSEN = """() => {
  const run = headway.model.runs[0];
  headway.choose({ run, counter: run.counters.indexOf("tensor"), index: 0 });
}"""

PRINTED = """async () => {
  headway.print(true);
  await new Promise((done) => setTimeout(done));
  return [...document.querySelectorAll(".picture")].map((picture) => {
    const { width, height } = picture;
    const brush = new OffscreenCanvas(width, height).getContext("2d");
    brush.drawImage(picture, 0, 0);
    const { data } = brush.getImageData(0, 0, width, height);
    const painted = data.filter((value) => value > 0).length;
    return picture.checkVisibility() && painted > (width * height) / 50;
  });
}"""
"""Which charts are there to be printed, and not empty."""


def test_pictures_of_the_documents_are_made(context: object, tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "scripts" / "screenshots"
    done = subprocess.run(
        [sys.executable, script, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for theme in ("light", "dark"):
        picture = (tmp_path / f"report-{theme}.png").read_bytes()
        assert struct.unpack(">II", picture[16:24]) == (1400, 900)


MEASURE = """async () => {
  const state = window.headway;
  let painted = 0;
  const original = CanvasRenderingContext2D.prototype.fillRect;
  CanvasRenderingContext2D.prototype.fillRect = function (...where) {
    painted += 1;
    return original.apply(this, where);
  };
  const found = [];
  for (const zoom of [1, 10, 100, 1000]) {
    const frames = [];
    painted = 0;
    for (let i = 0; i < 10; i++) {
      const width = state.view.full / zoom;
      state.view.from = (i * (state.view.full - width)) / 10;
      state.view.to = state.view.from + width;
      const begin = performance.now();
      state.show();
      await new Promise((done) => setTimeout(done)); // uPlot paints after the current task
      frames.push(performance.now() - begin);
    }
    frames.sort((a, b) => a - b);
    found.push({ zoom, median: frames[5], rectangles: painted / 10 });
  }
  return found;
}"""

ENOUGH = 20_000
"""Rectangles that a frame may take: about what can be told apart on a screen."""


def test_frames_of_100_000_instances(
    opened: "Opened", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "long.html"
    program = kernels.load("sync-chain").program()
    path.write_text(page(collect(program, {"n": 33_334}, TARGET, ("counted",))), encoding="utf-8")
    found: list[dict[str, Any]] = ready(opened, path).evaluate(MEASURE)
    with capsys.disabled():
        frames = ", ".join(f"{x['median']:.0f} ms at zoom {x['zoom']}" for x in found)
        size = path.stat().st_size / 1e6
        print(f"\nreport of 100,002 instances, {size:.1f} MB: a frame takes {frames}")
    assert max(x["rectangles"] for x in found) < ENOUGH, json.dumps(found)
