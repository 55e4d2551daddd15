"""Programs that are proved for all inputs, and programs that must not be."""

import random
from pathlib import Path

import pytest

from headway import synchronize
from headway.check.generate import Shape, generate
from headway.check.judge import check
from headway.check.mutate import mutants
from headway.errors import InvalidInput
from headway.ir import parse
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.kernels import load
from headway.prove import prove
from headway.sync import parse_sync
from headway.sync.program import SyncProgram

DATA = Path(__file__).parents[1] / "data"
EXAMPLES = sorted(DATA.glob("examples/*.hwy"))
SAFE = ("exact", "late")


def by_path(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


def some_inputs(program: Program, dice: random.Random, count: int = 8) -> list[Inputs]:
    return [
        {
            d.name: [dice.randint(0, 3) for _ in range(8)] if d.is_list else dice.randint(0, 4)
            for d in program.inputs
        }
        for _ in range(count)
    ]


def is_refuted(synced: SyncProgram, inputs: Inputs) -> bool:
    try:
        return check(synced, inputs).verdict not in SAFE
    except InvalidInput:
        return False


@by_path(EXAMPLES)
@pytest.mark.parametrize("strategy", ["scoreboard", "counted", "barrier"])
def test_the_worked_examples_are_proved(path: Path, strategy: str) -> None:
    program = parse(path.read_text(), path.name)
    assert prove(synchronize(program, "generic", strategy)).gaps == ()


@pytest.mark.parametrize("kernel", ["calibration-loop", "matmul", "moe", "sync-chain"])
@pytest.mark.parametrize("strategy", ["scoreboard", "counted", "barrier"])
def test_kernels_are_proved(kernel: str, strategy: str) -> None:
    assert prove(synchronize(load(kernel).program(), "trn2", strategy)).is_complete


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("strategy", ["scoreboard", "counted", "barrier"])
def test_nothing_is_proved_that_some_inputs_refute(seed: int, strategy: str) -> None:
    case = generate(seed, Shape(instructions=6))
    dice = random.Random(seed)
    synced = synchronize(case.program, "generic", strategy)
    wrong = [mutant.program for mutant in mutants(synced)]
    for program in (synced, *dice.sample(wrong, min(5, len(wrong)))):
        if any(is_refuted(program, inputs) for inputs in some_inputs(case.program, dice)):
            assert not prove(program).is_complete


LOOP = """\
sync @loop strategy manual target generic {{
  program @loop {{
    input n
    engine A
    engine B
    buffer x slots 2
    loop i n {{
      A put writes(x[i % 2]) takes(10)
      B get reads(x[i % 2]) takes(10)
    }}
  }}
  engine A {{
    registers done
    loop i n {{
      put waits B >= done{put}
      done := done + 1
    }}
  }}
  engine B {{
    registers seen
    loop i n {{
      seen := seen + 1
      get waits A >= seen{get}
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("put", "get", "gaps"),
    [
        (" - 1", "", []),
        ("", "", []),  # late, and safe
        (" - 2", "", ["put on A may come before an earlier access B x.0"]),
        (" - 1", " - 1", ["get on B may come before an earlier write A x.0"]),
        (" - 1", " + 1", ["B may wait for A >= seen + 1 for ever"]),
    ],
)
def test_a_double_buffer_is_safe_exactly_from_the_right_distance_on(
    put: str, get: str, gaps: list[str]
) -> None:
    proof = prove(parse_sync(LOOP.format(put=put, get=get)))
    assert [gap.reason for gap in proof.gaps] == gaps


def test_a_program_with_flags_is_not_followed() -> None:
    synced = synchronize(load("sync-chain").program(), "generic", "flags")
    assert [gap.reason for gap in prove(synced).gaps] == ["programs with flags are not followed"]


def test_a_counter_that_may_wrap_is_not_followed() -> None:
    text = LOOP.format(put=" - 1", get="").replace(
        "  engine A {",
        "  semaphore 0 counts A width 8\n  semaphore 1 counts B width 8\n  engine A {",
    )
    gaps = prove(parse_sync(text)).gaps
    assert [gap.reason for gap in gaps] == ["A has 8 bits and may wrap"]


def test_a_loop_that_is_walked_turn_by_turn_has_another_iteration_in_each() -> None:
    """Only in turn 0 is the slot that is read one that was written."""
    text = """
    sync @turns strategy manual target generic {
      program @turns {
        input n
        engine A
        engine B
        buffer x slots 2
        loop i 2 {
          loop j n {
            A put writes(x) takes(10)
            B get reads(x[ITERATION]) takes(10)
          }
        }
      }
      engine A { loop i 2 { loop j n { put } } }
      engine B { loop i 2 { loop j n { get } } }
    }
    """
    gaps = [prove(parse_sync(text.replace("ITERATION", slot))).gaps for slot in ("i", "1 - i", "1")]
    assert [len(gaps_of_slot) for gaps_of_slot in gaps] == [2, 2, 0]
