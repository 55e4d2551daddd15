"""Programs built in Python are those that are read from text."""

from pathlib import Path

import pytest

from headway.errors import InvalidProgram
from headway.ir import Builder, maximum, minimum, parse, to_text
from headway.ir.expr import Binary, Input
from headway.ir.program import Access, Work
from headway.ir.values import Value

HERE = Path(__file__).read_text().splitlines()


def error(caught: pytest.ExceptionInfo[InvalidProgram]) -> str:
    """Return the message without the place, which is a line of this file."""
    return str(caught.value).partition("error: ")[2]


def test_built_program_equals_the_text() -> None:
    b = Builder("double_buffer")
    n, m = b.input("n"), b.list_input("m")
    q = b.queue("q", on="sync")
    x = b.buffer("x", slots=2, shape=(128, 64), space="sbuf")
    y = b.buffer("y")
    with b.loop("i", n) as i:
        b.instr("load", "sync", queue=q, writes=[x[i % 2]], takes=50)
        with b.when(m[i] != 0):
            b.instr("add", "vector", reads=[x[i % 2][0:64, :], y], takes=(5, 1))
        with b.otherwise():
            b.instr("skip", "vector", does=Work("copy", 8))
    with b.repeat_while("t", lambda t: t < n, load=b.control_read("c", reads=[y])):
        b.instr("last", "vector", writes=[y])
    assert b.build() == parse("""
        program @double_buffer {
          input n
          input m[]
          engine sync
          engine vector
          queue q on sync
          buffer x slots 2 shape(128, 64) space(sbuf)
          buffer y
          loop i n {
            sync load triggers(q) writes(x[i % 2]) takes(50)
            if m[i] != 0 {
              vector add reads(x[i % 2][0:64, 0:64], y) takes(5, 1)
            } else {
              vector skip does(copy, elements=8)
            }
          }
          while t (t < n) load c reads(y) { vector last writes(y) }
        }""")


def test_missing_names_are_numbered() -> None:
    b = Builder("p")
    q = b.queue("q", on="A")
    x = b.buffer("x")
    with b.loop(trip=2, load=b.control_read(reads=[x])), b.loop(trip=3):
        b.instr(queue=q)
        b.instr(queue="q")
        b.instr(engine="A")
    assert to_text(b.build()).splitlines()[4:9] == [
        "  loop i.1 2 load load.1 reads(x) {",
        "    loop i.2 3 {",
        "      A q.1 triggers(q)",
        "      A q.2 triggers(q)",
        "      A A.1",
    ]


def test_values_build_expressions() -> None:
    n = Builder("p").input("n")
    texts = {
        "n + 1": n + 1,
        "1 + n": 1 + n,
        "n - 1": n - 1,
        "1 - n": 1 - n,
        "n * 2": n * 2,
        "2 * n": 2 * n,
        "n // 2": n // 2,
        "9 // n": 9 // n,
        "n % 2": n % 2,
        "9 % n": 9 % n,
        "0 - n": -n,
        "n == 1": n == 1,
        "n != n": n != n,
        "n < 1": n < 1,
        "n <= 1": n <= 1,
        "n > 1": n > 1,
        "n >= 1": n >= 1,
        "(n > 1) and (n < 5)": (n > 1) & (n < 5),
        "n or 1": n | 1,
        "min(n, 3)": minimum(n, 3),
        "max(2, n)": maximum(2, n),
    }
    assert {text: str(value.expr) for text, value in texts.items()} == {
        text: text for text in texts
    }


def test_place_is_the_line_of_python_that_made_the_node() -> None:
    b = Builder("p")
    with b.loop("i", 2):
        made = b.instr("a", "A")
    (loop,) = b.build().body
    assert made.at is not None
    assert loop.at is not None
    assert Path(made.at.file) == Path(__file__)
    assert HERE[made.at.line - 1].strip() == 'made = b.instr("a", "A")'
    assert HERE[loop.at.line - 1].strip() == 'with b.loop("i", 2):'


def test_error_quotes_the_line_of_python() -> None:
    b = Builder("p")
    x = b.buffer("x", slots=2)
    b.instr("a", "A", reads=[x[2]])
    with pytest.raises(InvalidProgram) as caught:
        b.build()
    message, line, _ = error(caught).splitlines()
    assert message == "buffer 'x' has no slot 2: it has 2, from 0 on"
    assert line.endswith('|     b.instr("a", "A", reads=[x[2]])')


def test_queue_with_two_hosts_is_refused_when_it_is_built() -> None:
    b = Builder("p")
    b.instr("a", "A", queue="q")
    b.instr("b", "B", queue="q")
    with pytest.raises(InvalidProgram) as caught:
        b.build()
    assert error(caught).startswith("queue 'q' is triggered by two engines, 'B' and 'A'\n")


def test_value_has_no_truth_while_the_program_is_built() -> None:
    n = Builder("p").input("n")
    with pytest.raises(InvalidProgram) as caught:
        assert 0 < n < 3
    assert str(caught.value) == (
        "error: the value of 'n > 0' is known at run time only; "
        "use b.when(...) for `if`, and & and | for `and` and `or`"
    )


def test_only_whole_numbers_are_values() -> None:
    n = Builder("p").input("n")
    for wrong in (1.5, "n", True, None):
        with pytest.raises(InvalidProgram, match="is not a whole number or a value of the program"):
            n + wrong  # type: ignore[operator]


def test_region_without_end_needs_a_shape_and_has_no_step() -> None:
    b = Builder("p")
    x, y = b.buffer("x", shape=(8,)), b.buffer("y")
    n = b.input("n")
    assert x[0][n : n + 1] == Access("x", 0, ((Input("n"), Binary("+", Input("n"), 1)),))
    assert x[1][:] == Access("x", 1, ((0, 8),))
    with pytest.raises(InvalidProgram, match="buffer 'y' has no extent in dimension 0"):
        y[0][1:]
    with pytest.raises(InvalidProgram, match="a box of buffer 'x' has no step"):
        x[0][0:8:2]


def test_otherwise_follows_its_when() -> None:
    b = Builder("p")
    b.instr("a", "A")
    with pytest.raises(InvalidProgram) as caught, b.otherwise():
        pass
    assert error(caught) == "there is no `when` just before this `otherwise`"


def test_what_is_left_out_or_doubled_is_told() -> None:
    b = Builder("p")
    with pytest.raises(InvalidProgram, match="a loop needs a trip count"), b.loop("i"):
        pass
    with pytest.raises(InvalidProgram, match="an instruction needs an engine, or a declared queue"):
        b.instr("a")
    with pytest.raises(InvalidProgram, match="has `takes` or `does`, not both"):
        b.instr("a", "A", takes=1, does=Work("copy"))
    with pytest.raises(InvalidProgram, match="reads and writes are lists of places"):
        b.instr("a", "A", reads=b.buffer("x"))  # type: ignore[arg-type]
    b.engine("B", pipelined=True)
    with pytest.raises(InvalidProgram, match="engine 'B' is there already"):
        b.engine("B")
    b.queue("q", on="B")
    with pytest.raises(InvalidProgram, match="queue 'q' is there already"):
        b.queue("q", on="B")


def test_build_inside_a_loop_is_refused() -> None:
    b = Builder("p")
    with b.loop("i", 2), pytest.raises(InvalidProgram, match="build inside a loop"):
        b.build()


def test_a_value_shows_its_expression() -> None:
    assert repr(Value(3) + 1) == "Value(3 + 1)"
