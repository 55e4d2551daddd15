"""The page as a file: whole, alone, and with the numbers of the run in it."""

import base64
import json
import re
import zlib
from array import array
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Cli

from headway import kernels, simulate, synchronize
from headway.report.collect import collect
from headway.report.html import MODULES, page, plain, script
from headway.report.pack import Column, Pack
from headway.sim import Timeline

ARRAYS = {"u8": "B", "u16": "H", "u32": "I", "i32": "i", "f64": "d"}


def unpacked(data: bytes, column: Column) -> list[int]:
    values = array(ARRAYS[column["type"]])
    values.frombytes(data[column["at"] : column["at"] + column["n"] * values.itemsize])
    found = [int(x) for x in values]
    if column["rising"]:
        for i in range(1, len(found)):
            found[i] += found[i - 1]
    return found


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], "u8"),
        ([0, 255], "u8"),
        ([256], "u16"),
        ([2**16], "u32"),
        ([-1, 7], "i32"),
        ([2**32], "f64"),
        ([-(2**31) - 1, 2**52], "f64"),
    ],
)
def test_column_takes_the_narrowest_type(values: list[int], kind: str) -> None:
    pack = Pack()
    pack.plain([1])
    column = pack.plain(values)
    assert column["type"] == kind
    assert column["at"] % 8 == 0
    assert unpacked(zlib.decompress(base64.b64decode(pack.text())), column) == values


def test_rising_column_holds_differences() -> None:
    pack = Pack()
    column = pack.rising([10**12, 10**12 + 5, 10**12 + 9])
    assert unpacked(zlib.decompress(base64.b64decode(pack.text())), column) == [
        10**12,
        10**12 + 5,
        10**12 + 9,
    ]
    assert pack.rising(range(0, 10**6, 200))["type"] == "u8"


def parts(text: str) -> tuple[dict, bytes]:
    header = re.search(r'<script type="application/json" id="header">(.*?)</script>', text, re.S)
    columns = re.search(r'<script type="text/plain" id="columns">(.*?)</script>', text, re.S)
    assert header
    assert columns
    return json.loads(header[1]), zlib.decompress(base64.b64decode(columns[1]))


def matmul(strategy: str) -> Timeline:
    program = kernels.load("matmul").program()
    return simulate(synchronize(program, "trn2", strategy), {"m": 2, "n": 1, "k": 3}, detail=True)


def test_page_holds_the_times_of_every_instance() -> None:
    program = kernels.load("matmul").program()
    inputs = {"m": 2, "n": 1, "k": 3}
    header, data = parts(page(collect(program, inputs, "trn2", ("barrier", "ideal", "counted"))))
    assert [run["strategy"] for run in header["runs"]] == ["barrier", "ideal", "counted"]
    for run in (header["runs"][0], header["runs"][2]):
        timeline = matmul(run["strategy"])
        for track in run["tracks"]:
            expected = timeline.track(run["counters"][track["counter"]])
            assert unpacked(data, track["start"]) == list(expected.start)
            lengths = [d - s for s, d in zip(expected.start, expected.done, strict=True)]
            assert unpacked(data, track["length"]) == lengths
        for engine in run["engines"]:
            ends = unpacked(data, engine["end"])
            assert ends == sorted(ends)
            assert ends[-1] == run["latency"] == round(timeline.latency * 1000)


def test_lines_are_those_of_the_text_beside_them() -> None:
    program = kernels.load("matmul").program()
    header, data = parts(page(collect(program, {"m": 1, "n": 1, "k": 2}, "trn2", ("counted",))))
    run = header["runs"][0]
    lines = run["text"].split("\n")
    for track in run["tracks"]:
        for site, line in zip(
            unpacked(data, track["site"]), unpacked(data, track["line"]), strict=True
        ):
            name = run["sites"][site]["name"]
            assert lines[line - 1].split()[0] == name  # where the engine issues it
            assert f" {name} " in lines[run["sites"][site]["line"] - 1]  # where it is declared


def test_page_asks_for_nothing_else() -> None:
    program = kernels.load("sync-chain").program()
    text = page(collect(program, {"n": 2}, "trn2", ("counted",)))
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", text)
    assert not re.search(r"@import|url\((?!data:)", text)
    assert "Permission is hereby granted" in text  # the licence of the library


def test_name_with_markup_in_it_stays_text() -> None:
    program = kernels.load("sync-chain").program()
    collected = replace(collect(program, {"n": 1}, "trn2", ("counted",)), program="</script><b>")
    header, _ = parts(page(collected))
    assert header["program"] == "</script><b>"
    assert "</script><b>" not in page(collected)


def test_scripts_join_without_two_things_of_one_name() -> None:
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", script(), re.M)
    assert len(names) == len(set(names)) > 100
    assert not re.search(r"^(import|export)\b", script(), re.M)


def test_module_keeps_what_is_no_import() -> None:
    module = 'import { a } from "./a.js";\n\nexport const important = a;\n'
    assert plain(module) == "\nconst important = a;\n"


def test_modules_are_joined_behind_what_they_import() -> None:
    import headway.report

    folder = Path(headway.report.__file__).parent / "page"
    assert {path.stem for path in folder.glob("*.js")} == set(MODULES)
    for name in MODULES:
        text = (folder / f"{name}.js").read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 400
        for imported in re.findall(r'from "\./(\w+)\.js"', text):
            exported = (folder / f"{imported}.js").read_text(encoding="utf-8")
            for wanted in re.findall(rf'import {{([^}}]*)}} from "\./{imported}\.js"', text):
                for each in filter(None, map(str.strip, wanted.split(","))):
                    assert re.search(rf"^export .*\b{each}\b", exported, re.M), f"{name}: {each}"


def test_command_writes_the_page(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    result = cli("report", "sync-chain", "--input", "n=4", "-o", str(path))
    assert result.code == 0
    header, _ = parts(path.read_text())
    assert [run["strategy"] for run in header["runs"]] == ["barrier", "counted"]


def test_strategy_that_cannot_carry_the_program_is_named(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    result = cli("report", "sync-chain", "--strategies", "static,counted", "-o", str(path))
    assert result.code == 0
    header, _ = parts(path.read_text())
    assert header["unsupported"] == {"static": "'static' cannot synchronize loops and ifs"}
    alone = cli("report", "sync-chain", "--strategies", "static", "-o", str(tmp_path / "none"))
    assert (alone.code, alone.out) == (1, "")
    assert "no strategy to show; static: 'static' cannot synchronize loops and ifs" in alone.err
    assert not (tmp_path / "none").exists()


def test_why_lists_causes_and_what_is_saved(cli: Cli) -> None:
    result = cli(
        "compare", "sync-chain", "--input", "n=8", "--strategies", "barrier,counted", "--why"
    )
    assert result.code == 0
    tables = result.out.split("\n\n")[1].splitlines()
    assert tables[0].split() == [
        "where",
        "the",
        "time",
        "goes,",
        "in",
        "ns",
        "ideal",
        "barrier",
        "counted",
    ]
    assert [line for line in tables if not line.startswith(" ")][1:5] == [
        "scalar",
        "vector",
        "gpsimd",
        "critical path",
    ]
    assert re.match(r"counted saves [\d,]+ ns against barrier on the critical path: ", tables[-1])


def test_why_as_json_sums_to_the_latency(cli: Cli) -> None:
    result = cli(
        "compare", "matmul", "--input", "m=1", "--strategies", "barrier,flags", "--why", "--json"
    )
    for measured in json.loads(result.out)["strategies"].values():
        why = measured["why"]
        assert why["latency_ps"] == round(measured["latency_ns"] * 1000)
        places = [*why["engines"].values(), *why["queues"].values(), why["critical_path"]]
        for rows in places:
            assert sum(row["ps"] for row in rows) == why["latency_ps"]
