"""Registers that always hold the same are one."""

from __future__ import annotations

from headway.check import check
from headway.passes.merge_counts import PASS
from headway.sync import parse_sync, to_text
from headway.sync.program import SyncProgram
from headway.targets.generic import TARGET


def program(body: str) -> SyncProgram:
    """Return a program whose engine C waits for the n-th signal of A and of B."""
    return parse_sync(f"""sync @t {{
      program @t {{
        input n
        engine A
        engine B
        engine C
        buffer a
        buffer b
        loop i n {{
          A p writes(a) takes(10)
          B q writes(b) takes(10)
          C c reads(a, b) takes(10)
        }}
      }}
      engine A {{ registers s loop i n {{ p waits C >= s s := s + 1 }} }}
      engine B {{ registers s loop i n {{ q waits C >= s s := s + 1 }} }}
      engine C {{ registers s, t, u[2], v[2] {body} }}
    }}""")


def merged(body: str) -> str:
    """Return the text of engine C behind the pass."""
    found = PASS.apply(program(body), TARGET)
    assert check(found, {"n": 3}).verdict == check(program(body), {"n": 3}).verdict
    text = to_text(found)
    return " ".join(text[text.index("engine C {", text.index("engine B {\n    reg")) :].split())


def test_registers_to_which_the_same_is_added_are_one():
    text = merged("loop i n { c waits A >= s + 1, B >= t + 1 s := s + 1 t := t + 1 }")
    assert "registers s, u[2], v[2]" in text
    assert "c waits A >= s + 1, B >= s + 1 s := s + 1 }" in text


def test_what_is_added_to_only_one_of_them_keeps_them_apart():
    assert "t := t + 2" in merged("loop i n { c waits A >= s + 1 s := s + 1 t := t + 2 }")
    assert "t := t + 1" in merged(
        "t := t + 1 loop i n { c waits A >= s + 1 s := s + 1 t := t + 1 }"
    )
    assert "t := t + 1" in merged("loop i n { s := s + 1 c waits A >= s, B >= t + 1 t := t + 1 }")


def test_what_is_read_between_keeps_them_apart():
    assert "t := t + 1" in merged("loop i n { c s := s + 1 u[0] := t t := t + 1 }")
    assert "t := t + 1" not in merged("loop i n { c u[0] := t s := s + 1 t := t + 1 }")


def test_what_another_register_tells_is_not_compared():
    text = merged("loop i n { c s := s + u[0] u[0] := u[0] + 1 t := t + u[0] }")
    assert "t := t + u" in text


def test_register_that_is_set_is_no_count():
    assert "t := i + 1" in merged("loop i n { c s := i t := i + 1 }")


def test_rows_that_are_set_together_and_to_the_same_are_one():
    text = merged("loop i n { wait B >= t c waits A >= s s := i + 1 t := i + 1 }")
    assert "registers s, u[2], v[2]" in text
    assert "wait B >= s c waits A >= s s := i + 1 }" in text


def test_rows_are_compared_once_the_counts_that_they_keep_are_one():
    text = rows("v[i % 2] := s u[i % 2] := t s := s + 1 t := t + 1")
    assert "registers s, v[2]" in text or "registers s, u[2]" in text
    assert text.count(":=") == 2


def test_rows_that_are_set_elsewhere_or_to_something_else_are_not():
    assert rows("v[i % 2] := s u[(i + 1) % 2] := s s := s + 1").count(":=") == 3
    assert rows("v[i % 2] := s u[i % 2] := s + 1 s := s + 1").count(":=") == 3
    assert rows("v[i % 2] := s s := s + 1 u[i % 2] := s").count(":=") == 3
    assert rows("v[i % 2] := s s := s + 1 if i { u[i % 2] := s }").count(":=") == 3


def rows(assigns: str) -> str:
    """Return the text of an engine C that waits for rows u and v, behind the pass."""
    body = f"loop i n {{ wait A >= v[i % 2], B >= u[i % 2] c {assigns} }}"
    found = to_text(PASS.apply(program(body), TARGET))
    return " ".join(found[found.index("engine C {", found.index("engine B {\n    reg")) :].split())
