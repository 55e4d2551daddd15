"""Every finding of the judge, with its full text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headway.check import Verdict, check
from headway.errors import CheckFailed, InvalidProgram
from headway.sync import parse_sync
from headway.sync.program import EngineProgram, Exec

ENGINES = "engine A engine B buffer b"
WRITE_READ = f"{ENGINES}\nA p writes(b) takes(10)\nB c reads(b) takes(10)"
TRIP_IN_MEMORY = f"""input n {ENGINES} buffer bound
A p writes(bound) takes(10)
loop i n load l reads(bound) {{ A q takes(10) }}
B c takes(10)"""


def judged(program: str, engines: str, **inputs: int) -> Verdict:
    """Judge engine programs that begin in line 3, or further down for a longer program."""
    text = f"sync @t {{ program @t {{ {program} }}\n{engines} }}"
    return check(parse_sync(text, "t.hwy"), inputs)


def told(program: str, engines: str, **inputs: int) -> str:
    return str(judged(program, engines, **inputs))


def test_exact_program_is_exact():
    assert told(WRITE_READ, "engine A { p } engine B { c waits A >= 1 }") == (
        "exact: 2 instances, 1 wait; none is early, none late, no deadlock"
    )


def test_missing_wait_is_early():
    assert told(WRITE_READ, "engine A { p }\nengine B { c }") == (
        "early: 1 finding\n"
        "t.hwy:5:12: error: early: c[] on B may issue before p[] has completed: it depends "
        "on signal 1 of A and does not wait for it\n"
        "  note: c[] reads b[0], which p[] writes\n"
        "  note: an order that shows it: issue c[]\n"
        "  rule: an instance waits for all that it conflicts with (docs/model.md#dependences)\n"
        "  help: wait for A >= 1 at this point"
    )


def test_low_threshold_is_early():
    program = f"{ENGINES} A o takes(10) A p writes(b) takes(10) B c reads(b) takes(10)"
    verdict = judged(program, "engine A { o p }\nengine B { c waits A >= 1 }")
    assert str(verdict) == (
        "early: 1 finding\n"
        "t.hwy:3:12: error: early: c[] on B may issue before p[] has completed: it depends "
        "on signal 2 of A, and its wait for A >= 1 asks for 1 only\n"
        "  note: c[] reads b[0], which p[] writes; the signals of A until then: 1 of o, 1 of p\n"
        "  note: an order that shows it: issue o[], complete o[], issue c[]\n"
        "  rule: an instance waits for all that it conflicts with (docs/model.md#dependences)\n"
        "  help: raise the threshold by 1 at this point, to 2"
    )
    assert verdict.to_json() == {
        "verdict": "early",
        "findings": [
            {
                "kind": "early",
                "instance": "c[]",
                "wait": "A >= 1",
                "counter": "A",
                "threshold": 1,
                "required": 2,
                "message": "c[] on B may issue before p[] has completed: it depends on signal 2 "
                "of A, and its wait for A >= 1 asks for 1 only",
                "location": "t.hwy:3:12",
                "help": "raise the threshold by 1 at this point, to 2",
                "schedule": ("issue o[]", "complete o[]", "issue c[]"),
                "note": "c[] reads b[0], which p[] writes; the signals of A until then: 1 of o, "
                "1 of p",
                "rule": "an instance waits for all that it conflicts with "
                "(docs/model.md#dependences)",
            }
        ],
        "more": 0,
        "instances": 3,
        "waits": 1,
    }


def test_high_threshold_is_late():
    program = f"{ENGINES} A p writes(b) takes(10) A o takes(10) B c reads(b) takes(10)"
    assert told(program, "engine A { p o }\nengine B { c waits A >= 2 }") == (
        "late: 1 finding\n"
        "t.hwy:3:20: error: late: c[] on B waits for signal 2 of A and requires only 1\n"
        "  rule: an instance waits for nothing that it does not require (docs/checking.md)\n"
        "  help: lower the threshold by 1"
    )


def test_wait_without_a_dependence_is_late():
    program = f"{ENGINES} A p takes(10) B c reads(b) takes(10)"
    assert told(program, "engine A { p }\nengine B { c waits A >= 1 }") == (
        "late: 1 finding\n"
        "t.hwy:3:20: error: late: c[] on B waits for signal 1 of A and does not depend on A "
        "here\n"
        "  note: no c depends on A in this run\n"
        "  rule: an instance waits for nothing that it does not require (docs/checking.md)\n"
        "  help: remove the wait"
    )


def test_wait_that_another_engine_implies_is_not_needed():
    program = f"""{ENGINES} engine C buffer d
    A p writes(b) takes(10) B q reads(b) writes(d) takes(10) C r reads(b, d) takes(10)"""
    engines = "engine A { p } engine B { q waits A >= 1 } engine C { r waits B >= 1 }"
    assert judged(program, engines).verdict == "exact"


def test_wait_that_asks_for_what_is_known_is_harmless():
    program = f"{ENGINES} A p writes(b) takes(10) B q reads(b) takes(10) B r takes(10)"
    engines = "engine A { p } engine B { q waits A >= 1 r waits A >= 1 }"
    assert judged(program, engines).verdict == "exact"


def test_trigger_tells_nothing_of_its_host():
    program = f"""{ENGINES} queue Q on A buffer d
    A p writes(b) takes(50) A ld triggers(Q) reads(d) takes(1) B w reads(b) writes(d) takes(10)"""
    early = judged(program, "engine A { p ld } engine B { w waits Q >= 1 }")
    assert [(f.kind, f.counter, f.required) for f in early.findings] == [("early", "A", 1)]
    assert judged(program, "engine A { p ld } engine B { w waits Q >= 1, A >= 1 }").verdict == (
        "exact"
    )


def test_pipelined_engine_does_not_follow_itself():
    program = "engine A pipelined buffer b A p writes(b) takes(50, 1) A c reads(b) takes(1, 1)"
    assert told(program, "engine A { p c }") == (
        "early: 1 finding\n"
        "t.hwy:2:14: error: early: c[] on A may issue before p[] has completed: it depends "
        "on signal 1 of A and does not wait for it\n"
        "  note: c[] reads b[0], which p[] writes\n"
        "  note: an order that shows it: issue p[], issue c[]\n"
        "  rule: an instance waits for all that it conflicts with (docs/model.md#dependences)\n"
        "  help: wait for A >= 1 at this point"
    )
    assert judged(program, "engine A { p c waits A >= 1 }").verdict == "exact"


def test_threshold_of_zero_or_less_holds_at_once():
    program = f"{ENGINES} A p takes(10) B c takes(10)"
    engines = "engine A { p } engine B { registers r c waits A >= 0, A >= -3, A >= r - 1 }"
    assert judged(program, engines).verdict == "exact"


def test_wait_for_nothing_lends_nothing():
    program = f"{ENGINES} engine C C o writes(b) takes(10) A p takes(10) B c reads(b) takes(10)"
    engines = "engine C { o } engine A { p waits C >= 1 } engine B { c waits A >= 0 }"
    kinds = [(f.kind, f.instance, f.counter) for f in judged(program, engines).findings]
    assert kinds == [("early", "c[]", "C"), ("late", "p[]", "C")]


def test_signal_that_never_comes_is_a_deadlock():
    assert told(WRITE_READ, "engine A { p }\nengine B { c waits A >= 2 }") == (
        "deadlock: 1 finding\n"
        "t.hwy:5:20: error: deadlock: B waits for A >= 2 before c[] and only 1 will ever come\n"
        "  note: c[] requires only A >= 1\n"
        "  rule: what an engine waits for has to come while it stands still (docs/checking.md)\n"
        "  help: lower the threshold by 1"
    )


def test_engines_that_wait_for_each_other_are_a_deadlock():
    assert told(WRITE_READ, "engine A { p waits B >= 1 }\nengine B { c waits A >= 1 }") == (
        "deadlock: 2 findings\n"
        "t.hwy:4:20: error: deadlock: A waits for B >= 1 before p[] and only 0 can come: "
        "the engines wait for each other\n"
        "  note: p[] does not depend on B\n"
        "  rule: what an engine waits for has to come while it stands still (docs/checking.md)\n"
        "  help: remove the wait, or lower its threshold to 0 here\n"
        "t.hwy:5:20: error: deadlock: B waits for A >= 1 before c[] and only 0 can come: "
        "the engines wait for each other\n"
        "  note: c[] does depend on it\n"
        "  help: leave this wait, and correct what the others wait for"
    )


def test_wait_at_the_end_of_an_engine_program_can_deadlock():
    assert told(WRITE_READ, "engine A { p wait B >= 2 }\nengine B { c waits A >= 1 }") == (
        "deadlock: 1 finding\n"
        "t.hwy:4:19: error: deadlock: A waits for B >= 2 before its end and only 1 will "
        "ever come\n"
        "  rule: what an engine waits for has to come while it stands still (docs/checking.md)\n"
        "  help: lower the threshold, or add the missing signal"
    )


def test_barrier_that_an_engine_never_reaches_is_a_deadlock():
    assert told(WRITE_READ, "engine A { p barrier }\nengine B { c waits A >= 1 }") == (
        "deadlock: 1 finding\n"
        "t.hwy:4:14: error: deadlock: A stands at a barrier that B never reaches\n"
        "  note: barriers in this run: A 1, B 0\n"
        "  rule: what an engine waits for has to come while it stands still (docs/checking.md)\n"
        "  help: every engine has to run the same number of barriers"
    )


def test_barriers_that_disagree_in_number_are_a_deadlock():
    program = f"{WRITE_READ}\nA w takes(10)"
    assert told(program, "engine A { p barrier w barrier }\nengine B { barrier c }") == (
        "deadlock: 1 finding\n"
        "t.hwy:5:24: error: deadlock: A stands at a barrier that B never reaches\n"
        "  note: barriers in this run: A 2, B 1\n"
        "  rule: what an engine waits for has to come while it stands still (docs/checking.md)\n"
        "  help: every engine has to run the same number of barriers"
    )


def test_barrier_that_two_engines_never_reach_names_both():
    program = "engine A engine B engine C A p takes(10) B q takes(10) C r takes(10)"
    assert "A stands at a barrier that B and C never reach\n" in told(
        program, "engine A { p barrier } engine B { q } engine C { r }"
    )


def test_early_behind_a_barrier_names_a_threshold_that_counts_from_the_barrier():
    program = f"{WRITE_READ}\nA w writes(b) takes(10) B r reads(b) takes(10)"
    a, b = "engine A { p barrier w }", "engine B { registers s c waits A >= 1 barrier r"
    missing = told(program, f"{a} {b} }}")
    assert "; a barrier has set A to 0, after signal 1\n" in missing
    assert missing.endswith("help: wait for A >= 1 at this point")
    low = told(program, f"{a} {b} waits A >= s - 1 }}")
    assert "it depends on signal 2 of A, and its wait for A >= s - 1 asks for none\n" in low
    assert low.endswith("help: raise the threshold by 2 at this point, to 1")


def test_late_wait_that_a_later_instance_needs_is_to_be_moved_there():
    program = f"{ENGINES} A p writes(b) takes(10) B o takes(10) B c reads(b) takes(10)"
    found = told(program, "engine A { p } engine B { o waits A >= 1 c }")
    assert "  note: no o depends on A in this run\n" in found
    assert found.endswith("help: move the wait to c[], which depends on it")


def test_barrier_covers_dependences_and_resets_counters():
    program = f"{WRITE_READ}\nA w writes(b) takes(10) B r reads(b) takes(10)"
    engines = (
        "engine A { p barrier w }",
        "engine B { c waits A >= 1 barrier r waits A >= 1 }",
    )
    assert judged(program, "\n".join(engines)).verdict == "exact"
    absolute = "engine A { p barrier w } engine B { c waits A >= 1 barrier r waits A >= 2 }"
    assert judged(program, absolute).verdict == "deadlock"


def test_barrier_that_holds_up_an_instance_is_late():
    program = f"{WRITE_READ}\nA w takes(10)"
    assert told(program, "engine A { p barrier w }\nengine B { c waits A >= 1 barrier }") == (
        "late: 1 finding\n"
        "t.hwy:5:14: error: late: w[] on A stands at a barrier until signal 1 of B and "
        "requires 0\n"
        "  rule: an instance waits for nothing that it does not require (docs/checking.md)\n"
        "  help: a barrier waits for everything; wait for what is required instead"
    )


def test_barrier_of_one_serial_engine_holds_up_nothing():
    program = "A p takes(10) A w takes(10)"
    assert judged(program, "engine A { p barrier w }").verdict == "exact"


def test_barrier_of_one_pipelined_engine_is_late():
    program = "engine A pipelined A p takes(10, 1) A w takes(10, 1)"
    findings = judged(program, "engine A { p barrier w }").findings
    assert [(f.kind, f.counter, f.threshold, f.required) for f in findings] == [("late", "A", 1, 0)]


def test_other_order_than_that_of_the_program_is_unsupported():
    program = "A p takes(10) A q takes(10)"
    assert told(program, "engine A { q p }") == (
        "unsupported: 1 finding\n"
        "t.hwy:2:12: error: unsupported: A issues q where the program has p[] next\n"
        "  rule: an engine issues its instances in the order of the program, and leaves no "
        "token (docs/checking.md)\n"
        "  help: each engine has to keep the order of the sequential program"
    )


def test_instance_too_many_is_unsupported():
    assert told("A p takes(10)", "engine A { p p }") == (
        "unsupported: 1 finding\n"
        "t.hwy:2:14: error: unsupported: A issues p where the program has nothing more there\n"
        "  rule: an engine issues its instances in the order of the program, and leaves no "
        "token (docs/checking.md)\n"
        "  help: each engine has to keep the order of the sequential program"
    )


def test_instance_that_is_never_issued_is_unsupported():
    program = "input n loop i n { A p takes(10) }"
    assert told(program, "engine A { loop i n - 1 { p } }", n=3) == (
        "unsupported: 1 finding\n"
        "t.hwy:1:43: error: unsupported: p[2] on A is never issued\n"
        "  rule: an engine issues its instances in the order of the program, and leaves no "
        "token (docs/checking.md)\n"
        "  help: every instance of the sequential program has to be issued"
    )


def test_load_of_a_control_value_waits_for_its_write():
    engines = "engine A { p loop i n load l { q } }\nengine B { c }"
    assert told(TRIP_IN_MEMORY, engines, n=1) == (
        "early: 1 finding\n"
        "t.hwy:5:23: error: early: l[] on A may issue before p[] has completed: it depends "
        "on signal 1 of A and does not wait for it\n"
        "  note: an order that shows it: issue p[], issue l[]\n"
        "  rule: an instance waits for all that it conflicts with (docs/model.md#dependences)\n"
        "  help: wait for signal 1 of A at this point"
    )
    waits = "engine A { p loop i n load l waits A >= 1 { q } } engine B { c }"
    assert judged(TRIP_IN_MEMORY, waits, n=1).verdict == "exact"


def test_load_by_an_engine_without_work_inside_is_late():
    # H4: an engine that only counts the loop stands still until the trip count has been written.
    engines = """engine A { p loop i n load l waits A >= 1 { q } }
    engine B { loop i n load l waits A >= 1 { } c }"""
    assert told(TRIP_IN_MEMORY, engines, n=1) == (
        "late: 1 finding\n"
        "t.hwy:6:38: error: late: l[] on B waits for signal 1 of A and only because an "
        "engine without work inside loads the value too\n"
        "  rule: an instance waits for nothing that it does not require (docs/checking.md)\n"
        "  help: let only the engines with work inside a loop or if load its control value"
    )


def test_write_of_a_control_value_waits_for_its_loads():
    program = f"{TRIP_IN_MEMORY} B w writes(bound) takes(10)"
    a = "engine A { p loop i n load l waits A >= 1 { q } }"
    early = judged(program, f"{a} engine B {{ c w waits A >= 1 }}", n=1)
    found = [(f.kind, f.instance, f.counter, f.required) for f in early.findings]
    assert found == [("early", "w[]", "A.control", 1)]
    assert judged(program, f"{a} engine B {{ c w waits A.control >= 1 }}", n=1).verdict == "exact"


def test_findings_beyond_the_limit_are_counted():
    program = f"{ENGINES} A p writes(b) takes(10) loop i 60 {{ B c reads(b) takes(10) }}"
    verdict = judged(program, "engine A { p } engine B { loop i 60 { c } }")
    assert len(verdict.findings) == 50
    assert verdict.more == 10
    assert str(verdict).startswith("early: 60 findings\n")
    assert str(verdict).endswith("\n... and 10 more")


def test_failed_check_raises_its_findings():
    judged(WRITE_READ, "engine A { p } engine B { c waits A >= 1 }").raise_for_failure()
    with pytest.raises(CheckFailed) as failed:
        judged(WRITE_READ, "engine A { p } engine B { c }").raise_for_failure()
    assert len(failed.value.diagnostics) == 1


def test_instance_that_is_never_issued_is_worse_than_a_late_one():
    program = "engine A engine B input n A p takes(10) B q takes(10) if n { B r takes(10) }"
    verdict = judged(program, "engine A { p barrier } engine B { barrier q if n - 1 { r } }", n=1)
    assert [(f.kind, f.instance) for f in verdict.findings] == [
        ("unsupported", "r[]"),
        ("late", "q[]"),
    ]


def test_check_refuses_what_the_language_does_not_allow() -> None:
    synced = parse_sync("sync @t { program @t { A p takes(1) } engine A { p } }")
    wrong = replace(synced, engines=(EngineProgram("A", (Exec("p"), Exec("ghost"))),))
    with pytest.raises(InvalidProgram, match="ghost"):
        check(wrong, {})


TOKENS = f"""{ENGINES} input n loop i n {{ A p writes(b) takes(10) B c reads(b) takes(10) }}"""
FULL_AND_EMPTY = "flag full from A to B flag empty from B to A "


def told_tokens(a: str, b: str) -> str:
    return told(TOKENS, f"{FULL_AND_EMPTY}\nengine A {{ {a} }}\nengine B {{ {b} }}", n=3)


def test_tokens_in_both_directions_are_exact():
    a = "loop i n { take empty p set full } take empty"
    b = "set empty loop i n { take full c set empty }"
    assert told_tokens(a, b) == (
        "exact: 6 instances, 6 waits; none is early, none late, no deadlock"
    )


def test_missing_prime_is_a_deadlock():
    a = "loop i n { take empty p set full }"
    assert told_tokens(a, "loop i n { take full c set empty }") == (
        "deadlock: 2 findings\n"
        "t.hwy:3:23: error: deadlock: A takes token 1 of empty before p[0], and the flag "
        "has not been set yet: the engines wait for each other\n"
        "  note: p[0] does not depend on B\n"
        "  rule: what an engine waits for has to come while it stands still (docs/checking.md)\n"
        "  help: B has to set it before it waits for what comes behind this take: mostly in "
        "front of its loop\n"
        "t.hwy:4:23: error: deadlock: B takes token 1 of full before c[0], and the flag has "
        "not been set yet: the engines wait for each other\n"
        "  note: c[0] does depend on it\n"
        "  help: leave this wait, and correct what the others wait for"
    )


def test_missing_drain_leaves_a_token():
    a = "loop i n { take empty p set full }"
    assert told_tokens(a, "set empty loop i n { take full c set empty }") == (
        "unsupported: 1 finding\n"
        "t.hwy:2:23: error: unsupported: 1 token is left over in flag empty at the end\n"
        "  note: in this run empty is set 4 times, and A takes it 3 times\n"
        "  rule: an engine issues its instances in the order of the program, and leaves no "
        "token (docs/checking.md)\n"
        "  help: A has to take a flag as often as it is set, after the last loop too"
    )


def test_second_prime_is_a_distance_that_the_buffer_does_not_have():
    a = "loop i n { take empty p set full } take empty take empty"
    b = "set empty set empty loop i n { take full c set empty }"
    assert told_tokens(a, b).startswith(
        "early: 2 findings\n"
        "t.hwy:3:34: error: early: p[1] on A may issue before c[0] has completed: it depends on "
        "signal 1 of B, and the token of its take empty tells of none\n"
    )


def test_too_many_takes_are_a_deadlock():
    a = "loop i n { take empty p set full } take empty take empty"
    b = "set empty loop i n { take full c set empty }"
    assert told_tokens(a, b) == (
        "deadlock: 1 finding\n"
        "t.hwy:3:58: error: deadlock: A takes token 5 of empty before its end, and the flag "
        "is set 4 times only\n"
        "  note: in this run empty is set 4 times, and A takes it 5 times\n"
        "  rule: what an engine waits for has to come while it stands still (docs/checking.md)\n"
        "  help: set the flag as often as it is taken: B sets it too seldom, or A takes it "
        "too often"
    )


def test_token_that_is_set_too_late_is_late():
    program = f"{ENGINES} A p writes(b) takes(10) A q takes(10) B c reads(b) takes(10)"
    engines = "flag f from A to B engine A {{ {} }}\nengine B {{ take f c }}"
    assert judged(program, engines.format("p set f q")).verdict == "exact"
    assert told(program, engines.format("p q set f")) == (
        "late: 1 finding\n"
        "t.hwy:3:12: error: late: c[] on B takes token 1 of f, which comes behind signal 2 "
        "of A, and requires only 1\n"
        "  rule: an instance waits for nothing that it does not require (docs/checking.md)\n"
        "  help: set the flag right behind the instruction, and take it right before the "
        "one that needs it"
    )


def test_token_is_late_if_its_engine_was_busy_before_it_set_it():
    program = """engine A pipelined engine B queue Q on A buffer b
    A t triggers(Q) writes(b) takes(1) A x takes(10) A y takes(10) B c reads(b) takes(1)"""
    engines = "flag f from Q to B engine A {{ {} }}\nengine B {{ take f c }}"
    assert judged(program, engines.format("t set f x y")).verdict == "exact"
    (finding,) = judged(program, engines.format("t x y set f")).findings
    assert (finding.kind, finding.counter, finding.threshold) == ("late", "A", 2)


def test_take_in_front_of_a_set_is_judged_with_the_next_instance():
    program = """engine A engine B engine C buffer b
    A p writes(b) takes(10) B q takes(10) C c reads(b) takes(10)"""
    flags = "flag f from A to B flag g from B to C engine A { p set f } engine C { take g c }"
    assert judged(program, f"{flags} engine B {{ q take f set g }}").verdict == "late"  # behind q
    (finding,) = judged(program, f"{flags} engine B {{ take f set g q }}").findings
    assert (finding.instance, finding.wait, finding.required) == ("q[]", "take f", 0)


def test_tokens_tell_what_their_engine_knew():
    program = """engine A engine B engine C buffer b buffer c
    A p writes(b) takes(10) B q reads(b) writes(c) takes(10) C r reads(b, c) takes(10)"""
    engines = """flag f from A to B flag g from B to C
    engine A { p set f } engine B { take f q set g } engine C { take g r }"""
    assert judged(program, engines).verdict == "exact"


def test_engine_that_ends_early_waits_for_nobody():
    engines = """engine A { registers s
      loop i n { p waits B >= s s := s + 1 }
      wait B >= s }
    engine B { registers s loop i n - 1 { s := s + 1 c waits A >= s } }"""
    assert told(TOKENS, engines, n=3) == (
        "deadlock: 1 finding\n"
        "t.hwy:4:12: error: deadlock: A waits for B >= 3 before its end and only 2 will "
        "ever come\n"
        "  rule: what an engine waits for has to come while it stands still (docs/checking.md)\n"
        "  help: lower the threshold, or add the missing signal"
    )


def test_barrier_leaves_tokens_alone():
    engines = """flag f from A to B engine A { p set f barrier set f }
    engine B { barrier take f c take f }"""
    assert judged(WRITE_READ, engines).verdict == "exact"


SMALL = "engine A engine B buffer b slots 3 input n " + (
    "loop i n { A p writes(b[i % 3]) takes(10) B c reads(b[i % 3]) takes(10) }"
)


def small_flags(holds: int, empty: int, a: str, b: str, n: int) -> str:
    flags = f"flag full from A to B holds {holds} flag empty from B to A holds {empty}"
    return told(SMALL, f"{flags}\nengine A {{ {a} }}\nengine B {{ {b} }}", n=n)


def test_flag_that_holds_one_token_must_not_be_two_phases_ahead():
    a = "loop i n { take empty p set full } take empty take empty take empty"
    b = "set empty set empty set empty loop i n { take full c set empty }"
    assert small_flags(3, 3, a, b, 7).startswith("exact")
    assert small_flags(2, 3, a, b, 3) == (
        "deadlock: 1 finding\n"
        "t.hwy:3:36: error: deadlock: A may set token 3 of full before B has taken token 1, "
        "and the flag holds 2: a token is lost, and B waits for it\n"
        "  rule: what an engine waits for has to come while it stands still (docs/checking.md)\n"
        "  help: take a flag before this set that B sets behind its take, or let full hold "
        "3 tokens"
    )
    assert small_flags(1, 3, a, b, 4).count("error: deadlock: A may set token") == 3
    assert small_flags(3, 2, a, b, 1).count("error: deadlock: B may set token 3 of empty") == 1


def test_take_is_known_through_other_engines_and_through_barriers():
    program = f"{ENGINES} engine C loop i 2 {{ A p takes(10) B x takes(10) C c takes(10) }}"
    flags = "flag f from A to C holds 1 flag g from C to B flag h from B to A"
    a, b, c = "p set f take h p set f", "take g x set h x", "take f set g c take f c"
    engines = "{} engine A {{ {} }} engine B {{ {} }} engine C {{ {} }}"
    assert judged(program, engines.format(flags, a, b, c)).verdict == "late"
    early_g = c.replace("take f set g", "set g take f")
    assert judged(program, engines.format(flags, a, b, early_g)).verdict == "deadlock"
    flags = "flag f from A to C holds 1"
    barriers = "p set f barrier p set f", "x barrier x", "take f barrier c take f c"
    assert judged(program, engines.format(flags, *barriers)).verdict == "late"
    after = barriers[2].replace("take f barrier", "barrier take f")
    assert judged(program, engines.format(flags, *barriers[:2], after)).verdict == "deadlock"


def test_circle_of_three_names_who_waits_for_whom():
    program = "engine A engine B engine C A p takes(1) B q takes(1) C r takes(1)"
    engines = "engine A { p waits B >= 1 } engine B { q waits C >= 1 } engine C { r waits A >= 1 }"
    assert [f.message for f in judged(program, engines).findings] == [
        "A waits for B >= 1 before p[] and only 0 can come: the engines wait for each other: "
        "A -> B -> C -> A",
        "B waits for C >= 1 before q[] and only 0 can come: the engines wait for each other: "
        "B -> C -> A -> B",
        "C waits for A >= 1 before r[] and only 0 can come: the engines wait for each other: "
        "C -> A -> B -> C",
    ]
