import pytest

from headway import check
from headway.bench.peer_shapes import accumulate, randomly, rotation, straight
from headway.errors import HeadwayError, UnsupportedByTarget
from headway.ir import parse
from headway.peers import hivm
from headway.peers.export import addresses, exported
from headway.peers.hivm import Operation, PipeBarrier, SetToken, TakeToken
from headway.peers.replay import imported

# A double buffer whose tokens are chosen by the parity of the iteration.
SYNCHRONIZED = """\
#map = affine_map<()[s0] -> (s0 mod 2)>
module {
  func.func @program(%arg0: memref<1xf16>, %arg1: memref<1xf16>, %arg2: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c0_i64 = arith.constant 0 : i64
    %c64_i64 = arith.constant 64 : i64
    hivm.hir.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]
    hivm.hir.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID1>]
    scf.for %arg3 = %c0 to %arg2 step %c1 {
      %0 = affine.apply #map()[%arg3]
      %1 = arith.index_cast %0 : index to i64
      %c1_i64 = arith.constant 1 : i64
      %2 = arith.cmpi eq, %1, %c1_i64 : i64
      %3 = arith.select %2, %c1_i64, %c0_i64 : i64
      %4 = hivm.hir.pointer_cast(%c0_i64, %c64_i64) : memref<1xf16>
      annotation.mark %4 {hivm.multi_buffer = 2 : i32} : memref<1xf16>
      hivm.hir.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, %3]
      hivm.hir.load ins(%arg0 : memref<1xf16>) outs(%4 : memref<1xf16>)
      hivm.hir.set_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
      hivm.hir.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
      hivm.hir.store ins(%4 : memref<1xf16>) outs(%arg1 : memref<1xf16>)
      hivm.hir.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, %3]
    }
    hivm.hir.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]
    hivm.hir.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID1>]
    return
  }
}
"""
PROGRAM = parse("""
program @pair {
  input n
  engine mte2 pipelined
  engine vector pipelined
  engine mte3 pipelined
  buffer x slots 2
  loop i n {
    mte2 load writes(x[i % 2]) takes(300)
    mte3 store reads(x[i % 2]) takes(300)
  }
}
""")
INPUTS = {"n": 3}


def events(text: str, n: int = 3) -> list[hivm.Event]:
    return list(hivm.replay(hivm.read(text), {2: n}))


def verdict(text: str) -> str:
    return check(imported(PROGRAM, INPUTS, events(text), "by-hand"), {}).verdict


def test_replay_follows_tokens_and_the_turns_of_slots() -> None:
    found = events(SYNCHRONIZED)
    assert found[:3] == [
        SetToken("PIPE_MTE3", "PIPE_MTE2", 0),
        SetToken("PIPE_MTE3", "PIPE_MTE2", 1),
        TakeToken("PIPE_MTE3", "PIPE_MTE2", 0),
    ]
    loads = [event for event in found if isinstance(event, Operation) and event.writes]
    assert [load.writes for load in loads] == [(0,), (64,), (0,)]


def test_slots_turn_by_place_and_not_by_the_name_of_the_value() -> None:
    loop = SYNCHRONIZED[
        SYNCHRONIZED.index("    scf.for") : SYNCHRONIZED.index(
            "    hivm.hir.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]"
        )
    ]
    twice = events(SYNCHRONIZED.replace(loop, loop + loop), n=1)
    loads = [event for event in twice if isinstance(event, Operation) and event.writes]
    assert [load.writes for load in loads] == [(0,), (0,)]


def test_imported_tokens_are_exact_and_a_missing_one_is_early() -> None:
    assert verdict(SYNCHRONIZED) == "exact"
    lost = SYNCHRONIZED
    for step in ("set", "wait"):
        lost = lost.replace(f"hivm.hir.{step}_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]\n", "\n")
    assert verdict(lost) == "early"


def test_barriers_of_a_pipe_and_of_all_are_imported() -> None:
    tokens = [line for line in SYNCHRONIZED.splitlines() if "_flag" in line]
    text = SYNCHRONIZED
    for line in tokens:
        text = text.replace(line + "\n", "", 1)
    store = next(line for line in text.splitlines() if "store" in line)
    load = next(line for line in text.splitlines() if "load" in line)
    barrier = "      hivm.hir.pipe_barrier[<PIPE_ALL>]\n"
    text = text.replace(store, barrier + store).replace(load, barrier + load)
    text = text.replace(load, "      hivm.hir.pipe_barrier[<PIPE_MTE2>]\n" + load)
    assert PipeBarrier("PIPE_MTE2") in events(text)
    assert verdict(text) == "late"


def test_a_replay_of_something_else_is_an_error() -> None:
    other = SYNCHRONIZED.replace("pointer_cast(%c0_i64, %c64_i64)", "pointer_cast(%c64_i64)")
    with pytest.raises(HeadwayError, match=r"instruction 0 is not load\[0\]"):
        verdict(other)
    with pytest.raises(HeadwayError, match="4 instructions instead of 6"):
        imported(PROGRAM, INPUTS, events(SYNCHRONIZED, n=2), "by-hand")


@pytest.mark.parametrize("line", ["      scf.while {", "      hivm.hir.nd2nz ins(%4) outs(%4)"])
def test_unknown_lines_are_an_error(line: str) -> None:
    text = SYNCHRONIZED.replace("      annotation", f"{line}\n      annotation")
    with pytest.raises(HeadwayError, match="a line of HIVM is not known"):
        events(text + ("}\n" if line.endswith("{") else ""))


def test_export_places_slots_and_lets_them_turn_in_the_innermost_loop() -> None:
    text = exported(accumulate(2))
    assert addresses(accumulate(2)) == {0: ("b0", 0), 64: ("b1", 0), 128: ("b1", 1)}
    inner = text.index("scf.for %j = %zero to %in_m")
    assert text.index("%r_b1 = hivm.hir.pointer_cast(%a64, %a128)") > inner
    assert "hivm.hir.vadd ins(%r_b1, %s0 :" in text


@pytest.mark.parametrize(
    "statement",
    [
        "gpsimd add reads(x) writes(y)",
        "loop i n + 1 { mte2 load writes(x) }",
        "while t (t < n) { mte2 load writes(x) }",
        "loop i n { vector add reads(x[i % 2], y) writes(x[1 - i % 2]) }\nmte3 s reads(x[n % 2])",
    ],
)
def test_what_cannot_be_exported_is_an_error(statement: str) -> None:
    text = f"program @p {{ input n buffer x slots 2 buffer y {statement} }}"
    with pytest.raises(UnsupportedByTarget, match="cannot be exported to HIVM"):
        exported(parse(text))


def test_shapes_and_random_programs_are_what_they_say() -> None:
    assert len(straight(20).body) == 60
    assert rotation(9).buffers[0].slots == 9
    assert randomly(3) == randomly(3) != randomly(4)
