import pytest

from headway import check, kernels, synchronize
from headway.errors import InvalidInput
from headway.ir import parse, to_text
from headway.ir.program import Loop, Program
from headway.ir.walk import instructions
from headway.kernels import Kernel, Parameter
from headway.spec import required

TEXTS = [name for name in kernels.names() if name not in ("calibration-loop", "sync-chain")]


def names_in(program: Program) -> list[str]:
    return [instr.name for instr in instructions(program.body)]


def needs(program: Program, **inputs: int) -> dict[str, dict[str, int]]:
    return {str(instance): dict(needed) for instance, needed in required(program, inputs)}


@pytest.mark.parametrize("name", kernels.names())
def test_kernel_survives_its_text_form(name: str) -> None:
    program = kernels.load(name).program()
    assert parse(to_text(program)) == program


@pytest.mark.parametrize("name", kernels.names())
def test_usual_inputs_are_those_that_the_program_declares(name: str) -> None:
    kernel = kernels.load(name)
    declared = {decl.name: decl.is_list for decl in kernel.program().inputs}
    assert {n: isinstance(v, list) for n, v in kernel.inputs.items()} == declared


@pytest.mark.parametrize("name", kernels.names())
def test_smallest_and_default_shapes_have_the_described_parameters(name: str) -> None:
    kernel = kernels.load(name)
    smallest = {p.name: p.minimum for p in kernel.parameters}
    assert kernel.program(**smallest) != kernel.program()
    assert all(p.minimum <= p.default <= p.maximum for p in kernel.parameters)


def test_calibration_loop_has_four_instructions_for_each_tile() -> None:
    program = kernels.load("calibration-loop").program(tiles=2)
    assert names_in(program) == [
        *("load0", "act0", "scale0", "store0"),
        *("load1", "act1", "scale1", "store1"),
    ]
    (loop,) = program.body
    assert isinstance(loop, Loop)
    assert {buffer.slots for buffer in program.buffers} == {2}


def test_calibration_loop_reuses_a_slot_after_as_many_iterations_as_there_are_slots() -> None:
    needed = needs(kernels.load("calibration-loop").program(buffers=3), n=4)
    assert needed["load0[2]"] == {}
    assert needed["load0[3]"] == {"scalar": 1}
    assert needed["act0[3]"] == {"loads": 4, "vector": 1}
    assert needed["store0[3]"] == {"vector": 4}


def test_sync_chain_hands_a_tile_from_engine_to_engine() -> None:
    needed = needs(kernels.load("sync-chain").program(engines=4, buffers=2), n=3)
    assert needed["step0[2]"] == {"vector": 1}
    assert needed["step1[2]"] == {"scalar": 3, "gpsimd": 1}
    assert needed["step3[2]"] == {"gpsimd": 3}


def test_matmul_drains_a_block_after_all_its_products() -> None:
    program = kernels.load("matmul").program()
    needed = needs(program, m=1, n=3, k=4)
    assert needed["drain[0,2]"] == {"tensor": 12, "stores": 1}
    assert needed["multiply[0,2,0]"] == {"a_loads": 9, "b_loads": 9, "vector": 1}


@pytest.mark.thorough
@pytest.mark.parametrize("name", TEXTS)
def test_tiles_buffers_and_static_bounds_change_what_they_say(name: str) -> None:
    kernel = kernels.load(name)
    usual = kernel.program()
    unrolled = kernel.program(tiles=3, buffers=4)
    fixed = kernel.program(static=1)
    assert len(names_in(unrolled)) > len(names_in(usual))
    assert 4 in {buffer.slots for buffer in unrolled.buffers}
    assert all(decl.is_list for decl in fixed.inputs)
    before = [str(i) for i, _ in required(usual, kernel.inputs)]
    assert [str(i) for i, _ in required(fixed, kernel.usual(fixed))] == before


def test_tile_of_an_unrolled_loop_uses_the_slot_of_its_number() -> None:
    needed = needs(kernels.load("gather").program(tiles=2, buffers=3), n=3)
    assert needed["fetch1[0]"] == {"loads": 2}
    assert needed["load1[1]"] == {"rows": 1}  # number 3 of all, slot 0 of 3
    assert needed["store0[1]"] == {"vector": 3}


@pytest.mark.thorough
@pytest.mark.parametrize("name", TEXTS)
def test_kernels_are_synchronized_exactly(name: str) -> None:
    kernel = kernels.load(name)
    synced = synchronize(kernel.program(), "trn2", "counted")
    check(synced, kernel.inputs).raise_for_failure()


def test_bad_parameters_are_all_reported_at_once() -> None:
    kernel = kernels.load("sync-chain")
    with pytest.raises(InvalidInput) as caught:
        kernel.program(engines=9, buffer=2)
    assert str(caught.value) == (
        "error: parameter 'engines' of kernel 'sync-chain' is 9\n"
        "  rule: it is 2 to 5: engines in the chain\n"
        "error: unknown parameter of kernel 'sync-chain': 'buffer'\n"
        "  help: did you mean 'buffers'? known: engines, duration, buffers"
    )


def test_parameters_not_given_take_their_defaults() -> None:
    seen: dict[str, int] = {}

    def build(**params: int) -> Program:
        seen.update(params)
        return Program("p", ())

    Kernel("p", "", (Parameter("a", 3, ""), Parameter("b", 5, "")), {}, build).program(b=7)
    assert seen == {"a": 3, "b": 7}
