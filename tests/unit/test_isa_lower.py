"""From engine programs to streams."""

import pytest

from headway import targets
from headway.errors import InvalidProgram, UnsupportedByTarget
from headway.isa import disassemble, lower
from headway.sync import parse_sync
from headway.targets.limits import limited

TEXT = """
sync @rotating strategy scoreboard target trn2 {{
  program @rotating {{
    input n
    input m[]
    engine vector pipelined
    engine sync pipelined
    queue q on sync pipelined
    buffer b slots 2
    buffer c
    sync first triggers(q) writes(c) takes(2000, 600)
    loop i n {{
      sync fill triggers(q) writes(b[i % 2]) takes(2000, 600)
      vector add reads(b[i % 2]) takes(10)
    }}
  }}
  {flags}
  engine vector {{ {vector} }}
  engine sync {{ first loop i n {{ fill }} }}
}}
"""


def stream(vector: str, engine: str = "vector", flags: str = "", **limits: int) -> list[str]:
    """Return the stream of an engine, line by line."""
    sync = parse_sync(TEXT.format(vector=vector, flags=flags))
    text = disassemble(lower(sync, limited(targets.load("trn2"), limits)))
    part = text.partition(f"engine {engine} ")[2].partition("\nengine ")[0].partition("\nprogram")
    return [line.strip() for line in part[0].splitlines()[1:]]


def test_loop_has_a_branch_at_both_ends():
    assert stream("loop i n { add }") == [
        "load.f   r0, n",
        "enter    r1, r0, L2",
        "L1:",
        "exec     add(i r1)",
        "next     r1, r0, L1",
        "L2:",
        "halt",
    ]


def test_wait_is_carried_and_its_threshold_computed_before():
    # The target has no sums in waits, so that the sum is an instruction that takes time.
    assert stream("registers s loop i n { s := s + 1 add waits q >= s + 1 }")[3:6] == [
        "add      r0, r0, 1",
        "add      r3, r0, 1",
        "exec     add(i r2), wait s0 >= r3",
    ]


def test_target_with_sums_puts_the_sum_into_the_wait():
    code = stream("registers s loop i n { s := s + 1 add waits q >= s - 2 }", sums=1)
    assert code[4] == "exec     add(i r2), wait s0 >= r0 - 2"


def test_one_wait_is_carried_and_the_others_stand_alone():
    code = stream("loop i n { add waits q >= 1, sync >= 1, vector >= 0 }")
    assert code[3:6] == [
        "wait     s1 >= 1",
        "wait     s2 >= 0",
        "exec     add(i r1), wait s0 >= 1, post s2",
    ]


def test_target_that_carries_two_waits_folds_one_into_the_instruction():
    code = stream("loop i n { add waits q >= 1, sync >= 1 }", waits=2)
    assert code[3:5] == ["wait.f   s0 >= 1", "exec     add(i r1), wait s1 >= 1"]


def test_row_of_registers_is_addressed_by_an_index_that_is_folded():
    code = stream("registers s, w[2] loop i n { w[i % 2] := s + 1 add waits q >= w[i % 2] }")
    assert code[3:9] == [
        "mod.f    r5, r4, 2",
        "add      r6, r0, 1",
        "put.f    r1[r5], r6, 2",
        "mod.f    r5, r4, 2",
        "get.f    r5, r1[r5], 2",
        "exec     add(i r4), wait s0 >= r5",
    ]


def test_if_branches_on_the_opposite_comparison():
    code = stream("loop i n { if i > 0 { add waits q >= 1 } else { add } }")
    assert code[3:8] == [
        "if.le    r1, 0, L2",
        "exec     add(i r1), wait s0 >= 1",
        "jump.f   L3",
        "L2:",
        "exec     add(i r1)",
    ]


def test_what_may_trap_is_computed_only_where_it_decides():
    # m may have one element only.
    code = stream("loop i n { if i < 1 and m[i] > 0 { add } else { add } }")
    assert code[3:9] == [
        "lt.f     r3, r1, 1",
        "ne.f     r2, r3, 0",
        "if.eq.f  r2, 0, L2",
        "load.f   r3, m[r1]",
        "gt.f     r3, r3, 0",
        "ne.f     r2, r3, 0",
    ]


def test_trip_count_that_the_loop_may_change_is_copied():
    code = stream("registers s s := n loop i s { s := 0 add }")
    assert code[:4] == [
        "load.f   r1, n",
        "mov      r0, r1",
        "mov.f    r2, r0",
        "enter    r3, r2, L2",
    ]


def test_while_tests_at_its_head():
    code = stream("while i (i < n) { add }")
    assert code[1:] == [
        "mov.f    r1, 0",
        "L1:",
        "leave.ge r1, r0, L2",
        "exec     add(i r1)",
        "add.f    r1, r1, 1",
        "jump.f   L1",
        "L2:",
        "halt",
    ]


def test_barrier_is_drains_two_meetings_and_a_reset_by_one_engine():
    text = TEXT.replace("first loop", "barrier first loop")
    sync = parse_sync(text.format(vector="barrier loop i n { add waits q >= 1 }", flags=""))
    lines = [line.strip() for line in disassemble(lower(sync)).splitlines()]
    at = lines.index("drain    vector")
    assert lines[at : at + 4] == ["drain    vector", "meet     s1", "clear    s0, 1", "meet     s2"]
    at = lines.index("drain    sync")
    assert lines[at : at + 4] == ["drain    sync", "drain    q", "meet     s1", "meet     s2"]


def test_flag_is_a_semaphore_of_tokens():
    code = stream("take f loop i n { add }", flags="flag f from q to vector")
    assert code[1] == "take     s0"


def test_inputs_stay_in_memory_where_registers_are_few():
    assert "load.f   r1, n" in stream("registers s s := 1 loop i n { add }", registers=3)
    code = stream("loop i n { add }", registers=2)
    assert code[:2] == ["load.f   r0, n", "enter    r1, r0, L2"]


def test_too_few_registers_are_refused_with_a_way_out():
    with pytest.raises(UnsupportedByTarget) as refused:
        stream("registers a, b loop i n { add }", registers=3)
    assert str(refused.value).splitlines() == [
        "<text>:18:3: error: vector needs 4 registers: 2 that count, and 2 for iterations, trip"
        " counts and intermediate results",
        "  rule: target 'trn2' has 3 registers for each engine",
        "  help: synchronize with --limit registers=1",
    ]


def test_too_few_semaphores_are_refused():
    with pytest.raises(UnsupportedByTarget, match=r"3 semaphores are needed\n"):
        stream("loop i n { add waits q >= 1, sync >= 1, vector >= 0 }", semaphores=2)


def test_register_threshold_is_refused_where_waits_compare_with_numbers():
    with pytest.raises(UnsupportedByTarget, match="a wait compares with a register: q >= s"):
        stream("registers s loop i n { add waits q >= s }", thresholds=0)


def test_number_of_more_than_32_bits_is_refused():
    with pytest.raises(InvalidProgram, match="the number 2147483648 is in an engine program"):
        stream("registers s s := 2147483648 loop i n { add }")
