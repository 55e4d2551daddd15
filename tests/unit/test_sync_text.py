"""Text of synchronized programs: what each form means, and that reading undoes printing."""

import random
from dataclasses import replace

import pytest
from random_programs import RandomProgram

from headway.errors import HeadwayError, InvalidProgram, Location, SyntaxProblem
from headway.ir import to_text as sequential_text
from headway.ir.expr import Binary, Expr, Input, Iteration
from headway.ir.program import Program
from headway.ir.walk import control_reads, instructions
from headway.sync import parse_any, parse_sync, to_text
from headway.sync.program import (
    Assign,
    Barrier,
    EngineProgram,
    Exec,
    Flag,
    Load,
    Register,
    RegisterRef,
    Semaphore,
    SetFlag,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    TakeFlag,
    Threshold,
    Wait,
    Waits,
)

PROGRAM = """program @p {
  input n
  engine A
  engine B
  queue Q on A
  buffer b
  A load triggers(Q) writes(b) takes(1)
  loop i n load n1 reads(b) { B work takes(1) }
}"""


def steps(text: str) -> tuple[SyncNode, ...]:
    """Read `text` as the program of engine B."""
    whole = f"""sync @p {{ {PROGRAM} engine A {{ exec load }}
    engine B {{ registers s, row[2] {text} work }} }}"""
    return parse_sync(whole).engine("B").body[:-1]


def step(text: str) -> SyncNode:
    (node,) = steps(text)
    return node


S = RegisterRef("s")


def test_header_says_where_the_program_comes_from() -> None:
    body = f"{{ {PROGRAM} engine A {{ exec load }} engine B {{ work }} }}"
    plain = parse_sync(f"sync @p {body}")
    assert (plain.strategy, plain.target) == ("manual", "generic")
    whole = parse_sync(f"sync @p strategy barrier-always target trn2-3 {body}")
    assert (whole.strategy, whole.target) == ("barrier-always", "trn2-3")
    assert whole.program == plain.program


def test_every_step() -> None:
    assert step("work waits Q >= 3, A >= s") == Exec(
        "work", (Wait("Q", Threshold(None, 3)), Wait("A", Threshold(S)))
    )
    assert step("exec work") == Exec("work")
    assert step("wait B.control >= s - 1") == Waits((Wait("B.control", Threshold(S, -1)),))
    assert step("load n1 waits Q >= 1") == Load("n1", (Wait("Q", Threshold(None, 1)),))
    assert step("barrier") == Barrier()
    assert step("s := s + n") == Assign(S, Binary("+", S, Input("n")))
    assert step("row[n % 2] := 0 - 1") == Assign(
        RegisterRef("row", Binary("%", Input("n"), 2)), Binary("-", 0, 1)
    )


@pytest.mark.parametrize(
    ("text", "threshold"),
    [
        ("-1", Threshold(None, -1)),
        ("s + 2", Threshold(S, 2)),
        ("row[1]", Threshold(RegisterRef("row", 1))),
        ("row[s % 2] - 3", Threshold(RegisterRef("row", Binary("%", S, 2)), -3)),
    ],
)
def test_threshold_is_a_number_or_a_register_with_an_offset(
    text: str, threshold: Threshold
) -> None:
    assert step(f"wait Q >= {text}") == Waits((Wait("Q", threshold),))


def test_control_read_may_be_called_like_a_statement() -> None:
    text = """sync @p {
  program @p { input n  buffer b  loop i n load set reads(b) { A work } }
  engine A {
    load
    set
    loop i n { work }
  }
}"""
    assert parse_sync(text).engine("A").body[0] == Load("set", ())


def test_blocks_load_their_control() -> None:
    load = Load("n1", (Wait("Q", Threshold(None, 1)),))
    assert step("loop i n load n1 waits Q >= 1 { work }") == SyncLoop(
        "i", Input("n"), (Exec("work"),), load
    )
    assert step("while t (t < s) load n1 waits Q >= 1 { }") == SyncWhile(
        "t", Binary("<", Iteration("t"), S), (), load
    )
    assert step("if s load n1 waits Q >= 1 { barrier } else { work }") == SyncIf(
        S, (Barrier(),), (Exec("work"),), load
    )


def test_steps_need_no_line_of_their_own() -> None:
    assert steps("work s := 1 work wait Q >= 1 work") == (
        Exec("work"),
        Assign(S, 1),
        Exec("work"),
        Waits((Wait("Q", Threshold(None, 1)),)),
        Exec("work"),
    )


def test_registers_of_engines_are_their_own() -> None:
    engines = "engine A { registers x exec load waits B >= x } engine B { work waits Q >= x }"
    with pytest.raises(SyntaxProblem) as caught:
        parse_sync(f"sync @p {{ {PROGRAM} {engines} }}")
    assert caught.value.diagnostics[0].message == "'x' is not a register of this engine"


def test_steps_and_waits_have_their_places() -> None:
    engines = "engine A { exec load }\nengine B {\n work waits Q >= 1,\n  A >= 0 }"
    text = f"sync @p {{ {PROGRAM}\n{engines} }}"
    (node,) = parse_sync(text, "f.hwy").engine("B").body
    assert isinstance(node, Exec)
    assert node.at == Location("f.hwy", 12, 2)
    assert [wait.at for wait in node.waits] == [Location("f.hwy", 12, 13), Location("f.hwy", 13, 3)]


def test_first_word_decides_which_kind_it_is() -> None:
    assert isinstance(parse_any(f"# remark\n{PROGRAM}"), Program)
    sync = parse_any(f"// x\nsync @p {{ {PROGRAM} engine A {{ exec load }} engine B {{ work }} }}")
    assert isinstance(sync, SyncProgram)
    with pytest.raises(SyntaxProblem, match="the text is empty"):
        parse_any("")
    with pytest.raises(SyntaxProblem) as caught:
        parse_sync(PROGRAM)
    assert caught.value.diagnostics[0].message == (
        "a synchronized program is expected, and this is a sequential program"
    )


def test_flags_are_declared_between_the_program_and_the_engines() -> None:
    text = f"""sync @p {{ {PROGRAM} flag flag from Q to B flag f.1 from B.control to A holds 2
    engine A {{ exec load set flag exec set }} engine B {{ take flag work }} }}"""
    with pytest.raises(InvalidProgram, match="there is no instruction 'set'"):
        parse_sync(text)
    sync = parse_sync(text.replace("exec set", "take f.1"))
    assert sync.flags == (Flag("flag", "Q", "B"), Flag("f.1", "B.control", "A", 2))
    assert sync.engine("A").body == (Exec("load"), SetFlag("flag"), TakeFlag("f.1"))
    assert sync.engine("B").body == (TakeFlag("flag"), Exec("work"))
    assert parse_sync(to_text(sync)) == sync


class RandomSync:
    """Steps for every engine of a random program; not right, but well formed."""

    def __init__(self, program: Program, seed: int) -> None:
        self._rng = random.Random(seed)
        self._program = program
        self._controls = [control.name for control in control_reads(program.body)]

    def sync(self) -> SyncProgram:
        engines = tuple(self._engine(name) for name in ("A", "B.0"))
        flags = (Flag("A.1", "Q", "B.0"), Flag("B.1", "B.0.control", "A", 3))
        counters = ("Q", "loop", "A", "B.0", "unused", "A.control", "B.0.control", "unused.control")
        cells = tuple(Semaphore(3 * n, q, 9 + n, n % 2 == 0) for n, q in enumerate(counters))
        return SyncProgram(self._program, engines, "barrier-always", "trn2", flags, cells)

    def _engine(self, name: str) -> EngineProgram:
        own = [i.name for i in instructions(self._program.body) if i.engine == name]
        self._steps = SetFlag(f"{name[0]}.1"), TakeFlag("B.1" if name == "A" else "A.1")
        body = (*self._body(own, (), 3), *(Exec(instr, self._waits(())) for instr in own))
        return EngineProgram(name, body, (Register("shadow.Q"), Register("last.b", 4)))

    def _body(self, own: list[str], around: tuple[str, ...], depth: int) -> tuple[SyncNode, ...]:
        return tuple(self._node(own, around, depth) for _ in range(self._rng.randint(0, 4)))

    def _node(self, own: list[str], around: tuple[str, ...], depth: int) -> SyncNode:
        rng, iteration = self._rng, f"i{len(around)}"
        inside = (*around, iteration)
        kind = rng.randint(0, 9 if depth else 4)
        if kind == 0 and own:
            return Exec(rng.choice(own), self._waits(around))
        if kind == 1:
            return Waits(self._waits(around) or (Wait("Q", Threshold(None, 1)),))
        if kind == 2 and self._controls:
            return Load(rng.choice(self._controls), self._waits(around))
        if kind == 5:
            body = self._body(own, inside, depth - 1)
            return SyncLoop(iteration, self._expr(around), body, self._load(around))
        if kind == 6:
            condition = Binary("<", Iteration(iteration), self._expr(around))
            body = self._body(own, inside, depth - 1)
            return SyncWhile(iteration, condition, body, self._load(around))
        if kind == 7:
            then, orelse = self._body(own, around, depth - 1), self._body(own, around, depth - 1)
            return SyncIf(self._expr(around), then, orelse, self._load(around))
        if kind == 8:
            return Barrier()
        if kind == 9:
            return rng.choice(self._steps)
        return Assign(self._register(around), self._expr(around))

    def _load(self, around: tuple[str, ...]) -> Load | None:
        if not self._controls or self._rng.random() < 0.5:
            return None
        return Load(self._rng.choice(self._controls), self._waits(around))

    def _waits(self, around: tuple[str, ...]) -> tuple[Wait, ...]:
        return tuple(self._wait(around) for _ in range(self._rng.randint(0, 2)))

    def _wait(self, around: tuple[str, ...]) -> Wait:
        counter = self._rng.choice(("A", "Q", "loop", "B.0.control"))
        register = self._register(around) if self._rng.random() < 0.7 else None
        return Wait(counter, Threshold(register, self._rng.randint(-2, 2)))

    def _register(self, around: tuple[str, ...]) -> RegisterRef:
        if self._rng.random() < 0.5:
            return RegisterRef("shadow.Q")
        return RegisterRef("last.b", Binary("%", self._expr(around), 4))

    def _expr(self, around: tuple[str, ...]) -> Expr:
        leaves: list[Expr] = [Input("n"), Input("m", 0), RegisterRef("shadow.Q")]
        leaves += [RegisterRef("last.b", 3), *map(Iteration, around)]
        operator = self._rng.choice(("+", "-", "*", "max", "=="))
        return Binary(operator, self._rng.choice(leaves), self._rng.choice(leaves))


@pytest.mark.parametrize("seed", range(40))
def test_random_program_is_read_back_equal(seed: int) -> None:
    program = replace(RandomProgram(seed).program(), name=f"random-{seed}")
    sync = RandomSync(program, seed).sync()
    text = to_text(sync)
    assert parse_sync(text) == sync
    assert to_text(parse_sync(text)) == text


@pytest.mark.thorough
def test_a_thousand_nested_loops_are_read_and_written() -> None:
    heads = "".join(f"loop i{level} 2 {{\n" for level in range(1000))
    deep = heads + "%s\n" + "}\n" * 1000
    whole = "sync @p {\nprogram @p {\n" + deep % "A a" + "}\nengine A {\n" + deep % "a"
    text = to_text(parse_sync(whole + "}\n}"))
    assert text.count("loop") == 2000
    assert to_text(parse_sync(text)) == text


def damaged(text: str, rng: random.Random) -> str:
    """Insert, remove, copy or cut off a little."""
    for _ in range(rng.randint(1, 4)):
        i, j, size = rng.randrange(len(text)), rng.randrange(len(text)), rng.randint(1, 20)
        text = rng.choice(
            (
                text[:i] + rng.choice("(){}[],:=<>+-*/%#@. \n01a_é\x00²") + text[i:],
                text[:i] + text[i + size :] + " ",
                text[:i] + text[j : j + size] + text[i:],
                text[: i + 1],
            )
        )
    return text


@pytest.mark.parametrize("seed", range(0, 1000, 100))
def test_damaged_text_is_refused_or_read_back_equal(seed: int) -> None:
    """Nothing but a HeadwayError comes out, wherever the text is broken."""
    program = RandomProgram(seed).program()
    texts = (sequential_text(program), to_text(RandomSync(program, seed).sync()))
    for variant in range(seed, seed + 30):
        text = damaged(texts[variant % 2], random.Random(variant))
        try:
            read = parse_any(text)
        except HeadwayError:
            continue
        written = sequential_text(read) if isinstance(read, Program) else to_text(read)
        assert parse_any(written) == read


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wait", "the name of a counter is expected, not '}'"),
        ("wait Q > 3", "'>=' is expected, not '>'"),
        ("wait Q >= n", "'n' is not a register of this engine"),
        ("wait Q >= 1 + s", "a statement is expected, not '+'"),
        ("s := ", "an expression is expected, not '}'"),
        (
            "s := t",
            "'t' is neither the iteration of an enclosing loop, a declared input nor a register",
        ),
        ("n[0] := 1", "'n' is not a register of this engine"),
        ("work waits", "the name of a counter is expected, not '}'"),
        ("work registers x", "registers come first in the program of an engine"),
        ("load", "the name of a control read is expected, not '}'"),
        ("3", "a statement is expected, not '3'"),
    ],
)
def test_first_wrong_word_is_named(text: str, message: str) -> None:
    whole = f"sync @p {{ {PROGRAM} engine B {{ registers s {text} }} }}"
    with pytest.raises(HeadwayError) as caught:
        parse_sync(whole)
    assert caught.value.diagnostics[0].message == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sync", "the text ends where the name of the program, as @name, is expected"),
        ("sync @p {", "the text ends where 'program' is expected"),
        ("sync @p { engine A { } }", "'program' is expected, not 'engine'"),
        (f"sync @p {{ {PROGRAM}", "the text ends where '}' is expected"),
        (f"sync @p {{ {PROGRAM} engine A {{ ", "the text ends where '}' is expected"),
        (f"sync @p {{ {PROGRAM} engin A {{ }} }}", "'engine' is expected, not 'engin'"),
        (f"sync @p {{ {PROGRAM} }} }}", "'}' comes after the end of the program"),
        ("sync @p strategy 3", "the name of a strategy is expected, not '3'"),
    ],
)
def test_wrong_frame_is_refused(text: str, message: str) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        parse_sync(text)
    assert caught.value.diagnostics[0].message == message


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("s = s + 1", "':=' is expected, not '='", "a register is set so: s := s + 1"),
        ("s += 1", "':=' is expected, not '+'", "a register is set so: s := s + 1"),
        (
            "work waits Q > s",
            "'>=' is expected, not '>'",
            "a wait holds from its threshold on: Q >= 1",
        ),
        (
            "load waits Q >= s",
            "the name of a control read is expected, not 'waits'",
            "an instruction of that name is issued by: exec load",
        ),
    ],
)
def test_habits_of_other_languages_get_the_right_help(text: str, message: str, help: str) -> None:
    """These were told to spell a word of the line like a word of the language: `used`, `fused`."""
    whole = f"sync @p {{ {PROGRAM} engine B {{ registers s {text} }} }}"
    with pytest.raises(SyntaxProblem) as caught:
        parse_sync(whole)
    (problem,) = caught.value.diagnostics
    assert (problem.message, problem.help) == (message, help)


def test_a_declared_name_is_not_taken_for_a_misspelled_word() -> None:
    """A `;` behind `used := used + 1` was answered with "did you mean 'fused'?"."""
    with pytest.raises(SyntaxProblem) as caught:
        parse_sync(f"sync @p {{ {PROGRAM} engine B {{ registers used\nused := used + 1; }} }}")
    assert caught.value.diagnostics[0].help == ""
