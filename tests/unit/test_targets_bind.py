"""Binding: what a program becomes on a target, and what is said if it does not fit."""

from dataclasses import replace

import pytest

from headway import targets
from headway.check.fuzz import violation
from headway.compiler import synchronize
from headway.errors import UnsupportedByTarget
from headway.ir import parse
from headway.ir.program import Engine, Instr, Program, Queue, Takes
from headway.ir.walk import instructions
from headway.sim import simulate
from headway.targets import Count, bind

GENERIC, TRN1, TRN2 = (targets.load(name) for name in ("generic", "trn1", "trn2"))


def program(body: str, head: str = "") -> Program:
    return parse(f"program @p {{ {head}\n{body}\n}}", "p.hwy")


def costs(bound: Program) -> dict[str, Takes]:
    return {i.name: i.cost for i in instructions(bound.body) if isinstance(i.cost, Takes)}


def refusal(bad: Program, target: targets.Target = TRN2) -> str:
    with pytest.raises(UnsupportedByTarget) as error:
        bind(bad, target)
    return str(error.value)


def test_generic_keeps_what_the_program_says_and_takes_10_ns_else() -> None:
    head = "engine A\nengine B pipelined"
    bound = bind(program("A x takes(7)\nA y\nB z takes(5, 2)", head), GENERIC)
    assert bound.engines == (Engine("A"), Engine("B", pipelined=True))
    assert costs(bound) == {"x": Takes(7, 7), "y": Takes(10, 10), "z": Takes(5, 2)}


def test_serial_engine_is_occupied_until_its_instruction_has_completed() -> None:
    assert costs(bind(program("A x takes(7, 2)"), GENERIC)) == {"x": Takes(7, 7)}


def test_engines_and_queues_are_declared_and_pipelined_as_the_target_is() -> None:
    bound = bind(program("sync ld triggers(q) does(dma, bytes=512)"), TRN1)
    assert bound.engines == (Engine("sync", pipelined=True),)
    assert bound.queues == (Queue("q", "sync", pipelined=True),)


def test_a_program_built_without_declarations_gets_them() -> None:
    undeclared = Program("p", (Instr("ld", "SP", "q"),))
    bound = bind(undeclared, GENERIC)
    assert (bound.engines, bound.queues) == ((Engine("SP"),), (Queue("q", "SP"),))


def test_compute_takes_the_cycles_of_its_formula_and_the_drain_of_its_engine() -> None:
    bound = bind(program("scalar a does(activation, elements=2048)"), TRN1)
    assert costs(bound) == {"a": Takes(round(2048 / 1.4 + 113, 3), round(2048 / 1.4, 3))}


def test_accumulating_matmuls_overlap_and_do_not_wait_for_each_other() -> None:
    matmul = "tensor m reads(sums) writes(sums) does(matmul, elements=512, dtype=bfloat16)"
    accumulating = program(f"loop k n {{ {matmul} }}", "input n buffer sums")
    synced = synchronize(accumulating, TRN2, "counted")
    assert synced.engine("tensor").registers == ()
    assert costs(synced.program)["m"] == Takes(629.667, 213.333)
    loop = float(TRN2.sequencer.loop)  # of the first iteration; the others run under a matmul
    assert simulate(synced, {"n": 8}).latency == pytest.approx(loop + 7 * 213.333 + 629.667)


def test_short_compute_takes_the_least_cycles() -> None:
    bound = bind(program("vector a does(tensor_scalar, elements=1)"), TRN1)
    assert costs(bound)["a"].occupancy == round(64 / 1.12, 3)


def test_operation_may_depend_on_engine_and_type() -> None:
    body = """
        vector r does(reciprocal, elements=100)
        scalar s does(reciprocal, elements=100)
        tensor m does(matmul, elements=512, dtype=bfloat16)
        tensor n does(matmul, elements=512, dtype=float32)
    """
    occupancy = {name: takes.occupancy for name, takes in costs(bind(program(body), TRN1)).items()}
    assert occupancy == {
        "r": round(800 / 1.12, 3),
        "s": round(100 / 1.4, 3),
        "m": round(512 / 2.8, 3),
        "n": round(4 * 512 / 2.8, 3),
    }


def test_two_operands_take_half_as_long_on_trn1_where_one_is_in_psum() -> None:
    body = "vector a does({}, elements=512)"
    plain, psum = (
        costs(bind(program(body.format(name)), TRN1))["a"].occupancy
        for name in ("tensor_tensor", "tensor_tensor_psum")
    )
    assert psum == pytest.approx(plain / 2, abs=0.001)


def test_names_of_the_instruction_set_are_names_of_operations() -> None:
    body = "tensor a does(nc_matmul, elements=512)\ntensor b does(matmul, elements=512)"
    found = costs(bind(program(body), TRN2))
    assert found["a"] == found["b"]


def test_transfer_takes_its_payload_and_is_a_least_interval_apart() -> None:
    body = """
        sync large triggers(q) does(dma, bytes=1048576)
        sync small triggers(q) does(dma, bytes=272)
    """
    assert costs(bind(program(body), TRN1)) == {
        "large": Takes(round(1048576 / 272 + 160 + 315, 3), round(1048576 / 272, 3)),
        "small": Takes(1 + 160 + 315, 600),
    }


def test_durations_of_the_program_are_kept_inside_control_too() -> None:
    bound = bind(program("loop i 2 { if i { sync x takes(3, 1) } else { sync y takes(4) } }"), TRN2)
    assert costs(bound) == {"x": Takes(3, 1), "y": Takes(4, 4)}


SUMS = "tensor n writes(s) takes(900, 9)"


@pytest.mark.parametrize(
    ("body", "is_pipelined"),
    [
        (f"vector w writes(f) takes(1)\nloop 2 load c reads(f) {{ {SUMS} }}", False),
        (f"loop 2 load c reads(f) {{ {SUMS} }} vector w writes(f) takes(1)", True),
        (f"loop 2 {{ vector w writes(f) takes(1)\nif 1 load c reads(f) {{ {SUMS} }} }}", True),
        (
            f"tensor m writes(f) takes(1)\n{SUMS}\nif 1 load c reads(f) {{ vector v takes(1) }}",
            True,
        ),
    ],
)
def test_engine_that_keeps_its_order_is_serial_only_where_its_loads_tell_nothing(
    body: str, is_pipelined: bool
) -> None:
    bound = bind(program(body, "buffer f\nbuffer s"), TRN2)
    assert {e.name: e.pipelined for e in bound.engines}["tensor"] == is_pipelined


def test_nothing_is_early_behind_an_overlapping_engine_that_loads_or_triggers() -> None:
    host = replace(TRN2.engines[0], trigger=TRN2.engines[2].trigger)
    target = replace(TRN2, engines=(host, *TRN2.engines[1:]))
    sums = f"tensor m writes(x) takes(9000, 9)\n{SUMS}"
    for body in (
        f"{sums}\ntensor store triggers(q) reads(x) takes(5)",
        f"{sums}\nif 1 load c reads(f) {{ tensor o takes(1) }}"
        " vector w writes(f) takes(1)\nvector r reads(x) takes(1)",
    ):
        synced = synchronize(program(body, "buffer f\nbuffer s\nbuffer x"), target)
        tracks = simulate(synced, {}, target).tracks
        times = {track.counter: [(t.issue, t.done) for t in track] for track in tracks}
        assert violation(synced.program, {}, times) == ""


def test_unknown_engines_are_named_with_their_place() -> None:
    assert refusal(program("vectro a takes(1)")) == (
        "p.hwy:2:1: error: target 'trn2' has no engine 'vectro'\n"
        "  help: did you mean 'vector'? known: tensor, vector, scalar, gpsimd, sync; "
        "--target generic has any"
    )


def test_queue_needs_an_engine_that_can_trigger() -> None:
    assert refusal(program("vector a triggers(q) takes(1)", "queue q on vector")) == (
        "p.hwy:1:20: error: engine 'vector' of target 'trn2' cannot trigger queue 'q'\n"
        "  help: trigger it from one of: scalar, gpsimd, sync"
    )


def test_unknown_operation_is_named_with_the_closest() -> None:
    text = refusal(program("scalar a does(activatoin, elements=4)"))
    assert text.startswith(
        "p.hwy:2:1: error: target 'trn2' cannot compute 'activatoin', which 'a' does\n"
        "  help: did you mean 'activation'? known: matmul, transpose, activation,"
    )


def test_a_transfer_does_no_computation() -> None:
    assert refusal(program("sync a triggers(q) does(activation, bytes=4)")) == (
        "p.hwy:2:1: error: target 'trn2' cannot move bytes by 'activation', which 'a' does\n"
        "  help: known: dma, dma_copy, dma_compute, dma_transpose"
    )


def test_operation_on_another_engine_is_refused() -> None:
    assert refusal(program("vector a does(matmul, elements=4)")) == (
        "p.hwy:2:1: error: 'a' does 'matmul' on engine 'vector' of target 'trn2'\n"
        "  help: it runs on: tensor"
    )


def test_instruction_without_a_cost_is_refused_where_there_is_no_default() -> None:
    assert refusal(program("vector a")) == (
        "p.hwy:2:1: error: instruction 'a' has no cost; target 'trn2' has no default\n"
        "  help: write takes(50) for 50 ns, or does(activation, elements=512)"
    )


def test_all_problems_are_reported_together() -> None:
    assert refusal(program("PE a takes(1)\nACT b takes(1)")).count("error:") == 2


def test_too_many_queues_are_refused() -> None:
    body = "\n".join(f"sync a{k} triggers(q{k}) takes(1)" for k in range(3))
    few = replace(TRN2, dma=replace(TRN2.dma, queues=Count(2, "this test")))
    assert refusal(program(body), few) == (
        "p.hwy:4:1: error: the program has 3 queues and target 'trn2' has 2\n"
        "  help: let transfers of one engine share a queue"
    )


def test_deep_nests_are_bound() -> None:
    depth = 1000
    nest = "\n".join(f"loop i{k} 1 {{" for k in range(depth)) + "\nA x" + "}" * depth
    assert costs(bind(program(nest), GENERIC)) == {"x": Takes(10, 10)}
