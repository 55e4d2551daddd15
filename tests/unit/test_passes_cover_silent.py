"""A silent instruction has a signal behind it before anything that may depend on it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headway import targets
from headway.check import check
from headway.compiler import compare, fit, synchronize
from headway.errors import UnsupportedByTarget
from headway.ir import parse
from headway.ir.program import Program
from headway.ir.walk import instructions
from headway.passes.cover_silent import covered, unmarked
from headway.sync import parse_sync, to_text
from headway.targets import Target, bind
from headway.targets.generic import TARGET
from headway.targets.limits import limited

TRN2 = targets.load("trn2")


def order(text: str, target: Target = TARGET) -> str:
    program, _ = covered(bind(parse(f"program @p {{ {text} }}"), target), target)
    return " ".join(instr.name for instr in instructions(program.body))


PLACES = {
    "engine A engine B buffer b A p writes(b) silent A q B c reads(b)": "p q c",
    "engine A engine B buffer b A p writes(b) silent B c reads(b) A q": "p nop.1 c q",
    "engine A engine B buffer b buffer d A p writes(b) silent B c reads(d) A q": "p c q",
    "engine A buffer b A p writes(b) silent A q reads(b)": "p q",
    "engine A pipelined buffer b A p writes(b) silent A q reads(b)": "p nop.1 q",
    "engine A engine B buffer b A p writes(b) silent A nop.1 silent B c reads(b)": (
        "p nop.1 nop.2 c"
    ),
    "input n engine A buffer b loop i n { A p writes(b) silent A q silent }": "p q nop.1",
    "input n engine A buffer b A p writes(b) silent loop i n { A q }": "p nop.1 q",
    "input n engine A buffer b A q if n { A p writes(b) silent } else { A r }": "q p nop.1 r",
    "engine A engine B queue Q on A buffer b A p triggers(Q) writes(b) silent A q B c reads(b)": (
        "p q nop.1 c"
    ),
    "input n engine A engine B buffer b slots 2 loop i n {"
    " A p writes(b[i % 2]) silent B c reads(b[(i + 1) % 2]) A q }": "p c q",
    "engine A engine B buffer b shape(8) A p writes(b[0][0:4]) silent B c reads(b[0][4:8])": "p c",
    "engine A engine B buffer b A p writes(b) silent": "p",
}


@pytest.mark.parametrize("text", PLACES)
def test_no_op_stands_only_where_no_other_signal_comes_in_time(text: str) -> None:
    assert order(text) == PLACES[text]


def silent(program: Program) -> str:
    return " ".join(instr.name for instr in instructions(program.body) if instr.silent)


MATMUL = """program @p { engine tensor engine vector buffer b buffer c
  tensor mm writes(b) does(matmul, elements=512) vector add reads(b) writes(c) takes(50) }"""


def test_operation_that_cannot_signal_is_silent() -> None:
    operation = replace(TRN2.operations["matmul:float32"], signals=False)
    target = replace(TRN2, operations={**TRN2.operations, "matmul:float32": operation})
    assert silent(bind(parse(MATMUL), target)) == "mm"
    assert silent(bind(parse(MATMUL), TRN2)) == ""


def test_with_no_updates_nothing_but_transfers_and_no_ops_signals() -> None:
    target = limited(TRN2, {"updates": 0})
    assert silent(bind(parse(MATMUL), target)) == "mm add"
    text = MATMUL.replace("engine vector", "engine vector engine sync queue Q on sync").replace(
        "vector add", "sync ld triggers(Q) writes(c) takes(9) vector add"
    )
    synced = synchronize(parse(text), target)
    assert silent(synced.program) == "mm add"
    assert check(synced, {}).verdict == "exact"


def mute(name: str) -> Target:
    engines = (replace(e, signals=e.name != name) for e in TRN2.engines)
    return replace(TRN2, engines=tuple(engines))


def test_engine_that_cannot_signal_may_only_do_what_no_other_depends_on() -> None:
    with pytest.raises(UnsupportedByTarget) as caught:
        synchronize(parse(MATMUL), mute("tensor"))
    assert (
        str(caught.value)
        .splitlines()[0]
        .endswith("'add' may depend on 'mm', whose completion nothing can show")
    )
    synced = synchronize(parse(MATMUL), mute("vector"))
    assert [instr.name for instr in instructions(synced.program.body)] == ["mm", "add"]
    assert check(synced, {}).verdict == "exact"


def test_report_says_what_was_added_and_compare_what_it_costs() -> None:
    target = limited(TRN2, {"updates": 0})
    _, report = fit(parse(MATMUL), target)
    assert [str(concession) for concession in report.concessions] == [
        "tensor: a no-op to signal what silent instructions have done: nop.1"
    ]
    found = compare(parse(MATMUL), {}, target, ["counted"], cost=True)
    assert found.strategies["counted"].cost_ns == 0  # under what the matrix product still drains
    assert found.strategies["ideal"] == compare(parse(MATMUL), {}, TRN2, []).strategies["ideal"]


@pytest.mark.parametrize("strategy", ["counted", "scoreboard", "barrier", "flags", "phase"])
def test_unseen_completion_is_waited_for_by_the_next_signal(strategy: str) -> None:
    text = """program @p { input n engine A engine B buffer b slots 2
      loop i n { A p writes(b[i % 2]) silent A q B c reads(b[i % 2]) } }"""
    synced = synchronize(parse(text), TARGET, strategy)
    assert check(synced, {"n": 5}).verdict in ("exact", "late")
    assert parse_sync(to_text(synced)) == synced


def test_wait_for_a_signal_before_the_silent_completion_is_early() -> None:
    text = """program @p { engine A engine B buffer b
      A o A p writes(b) silent A q B c reads(b) }"""
    synced = synchronize(parse(text), TARGET)
    wrong = parse_sync(to_text(synced).replace("A >= 2", "A >= 1"))
    finding = check(wrong, {}).findings[0]
    assert (finding.kind, finding.threshold, finding.required) == ("early", 1, 2)
    assert "depends on signal 2 of A, and its wait for A >= 1 asks for 1 only" in finding.message


def test_program_unmarked_signals_everywhere() -> None:
    text = "program @p { input n engine A loop i n { A p silent if n { A q silent } } }"
    assert silent(unmarked(parse(text))) == ""
