"""Results show themselves in a notebook."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

import headway as hw
from headway import html
from headway.sim.drawing import svg

TEXT = """program @pair {
  input n
  queue q on sync
  buffer x slots 2
  loop i n {
    sync fetch triggers(q) writes(x[i % 2]) takes(50)
    vector add reads(x[i % 2]) takes(10)
  }
}
"""
NAMESPACE = {"s": "http://www.w3.org/2000/svg"}


@pytest.fixture
def synced() -> hw.SyncProgram:
    return hw.synchronize(hw.parse(TEXT), "generic")


class Tags(HTMLParser):
    """Checks that tags match."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def text_of(shown: str) -> str:
    parser = Tags()
    parser.feed(shown)
    parser.close()
    assert parser.open == []
    return parser.text


def test_a_program_shows_its_text(synced: hw.SyncProgram) -> None:
    assert text_of(synced.program._repr_html_()).startswith("program @pair {\n  input n\n")


def test_a_long_program_shows_its_beginning() -> None:
    shown = text_of(html.program("\n".join(["a < b"] * 500)))
    assert shown.startswith("a < b\n")
    assert shown.endswith("... and 100 more lines")


def test_engine_programs_show_beside_each_other(synced: hw.SyncProgram) -> None:
    shown = text_of(synced._repr_html_())
    assert "pair, counted on generic" in shown
    assert "engine vector {\n  registers" in shown
    assert "    add waits q >= " in shown


def test_a_comparison_shows_the_figures_of_its_text(synced: hw.SyncProgram) -> None:
    comparison = hw.compare(hw.parse(TEXT), {"n": 4}, "generic")
    shown = comparison._repr_html_()
    assert "not measured: static" in text_of(shown)
    cells = re.findall(r"<t[dh](?: [^>]*)?>([^<]*)<", shown)
    assert cells == [cell for row in comparison.rows() for cell in row]
    assert str(comparison).splitlines()[0] in shown


def test_a_verdict_shows_its_word_and_its_findings(synced: hw.SyncProgram) -> None:
    assert "exact" in text_of(hw.check(synced, {"n": 3})._repr_html_())
    late = hw.check(hw.synchronize(hw.parse(TEXT), "generic", "barrier"), {"n": 3})
    shown = late._repr_html_()
    assert html.BAD in shown
    assert "late" in text_of(shown)
    assert "error: late: " in text_of(shown)


def test_a_run_is_drawn_with_a_bar_for_each_instance(synced: hw.SyncProgram) -> None:
    run = hw.simulate(synced, {"n": 3}, detail=True)
    assert "vector: busy" in text_of(run._repr_html_())
    tree = ElementTree.fromstring(svg(run))
    hints = [title.text for title in tree.iterfind(".//s:rect/s:title", NAMESPACE)]
    assert sorted(hints) == sorted(
        f"{x}: {x.start:,.0f} to {x.done:,.0f} ns" for x in run.instances()
    )
    arrows = tree.findall(".//s:path[@marker-end]", NAMESPACE)
    assert len(arrows) == 4  # each add waits for its fetch, and the third fetch for the first add


def test_bars_are_drawn_to_scale(synced: hw.SyncProgram) -> None:
    run = hw.simulate(synced, {"n": 3})
    tree = ElementTree.fromstring(svg(run))
    bars = {
        bar.findtext("s:title", "", NAMESPACE).partition(":")[0]: bar
        for bar in tree.iterfind(".//s:rect", NAMESPACE)
    }
    fetch, add = (float(bars[name].get("width", 0)) for name in ("fetch[0]", "add[0]"))
    assert fetch == pytest.approx(5 * add, rel=0.01)


def test_barriers_are_drawn() -> None:
    synced = hw.synchronize(hw.parse(TEXT), "generic", "barrier")
    run = hw.simulate(synced, {"n": 3}, detail=True)
    tree = ElementTree.fromstring(svg(run))
    assert len(tree.findall(".//s:line[@stroke-dasharray]", NAMESPACE)) == run.barriers > 0


def test_a_long_run_is_a_small_drawing(synced: hw.SyncProgram) -> None:
    drawing = svg(hw.simulate(synced, {"n": 5000}))
    assert len(drawing) < 200_000


def test_names_are_escaped() -> None:
    assert "<b>" not in html.table([["<b>"]], "<b>").replace("&lt;b&gt;", "")


def test_a_drawing_leaves_the_style_of_its_page_alone(synced: hw.SyncProgram) -> None:
    style = ElementTree.fromstring(svg(hw.simulate(synced, {"n": 3}))).findtext(
        "s:style", "", NAMESPACE
    )
    rules = [rule for rule in style.split("}") if rule]
    assert len(rules) > 3
    assert all(rule.startswith(".hw ") for rule in rules)
