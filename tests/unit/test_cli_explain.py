"""`headway explain` in words and as JSON."""

import json

from command_line import Cli

CHAIN = ("explain", "sync-chain", "--param", "engines=2", "--target", "generic")


def test_an_instruction_is_explained(cli: Cli) -> None:
    result = cli("explain", "sync-chain", "step0", *CHAIN[2:])
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == [
        "sync-chain:5:5: step0 on scalar",
        "  wait vector >= shadow.vector - 1",
        "b0[i % 2]: WAR after step1, 2 iterations of i before",
        "  [b-wait] its own wait for vector >= shadow.vector - 1 (sync-chain:5:5)",
        "b0[i % 2]: WAW after step0, 2 iterations of i before",
        "  [a-order] scalar does one thing after the other",
        "the run: --input n=3; the rules are proved for all inputs",
    ]


def test_inputs_shape_the_run(cli: Cli) -> None:
    result = cli("explain", "sync-chain", "step0", *CHAIN[2:], "--input", "n=1")
    assert result.out.splitlines()[2:] == [
        "no dependences",
        "the run: --input n=1; the rules are proved for all inputs",
    ]


def test_json_has_the_same(cli: Cli) -> None:
    found = json.loads(cli("explain", "sync-chain", "step1", *CHAIN[2:], "--json").out)
    assert found["waits"] == ["scalar >= shadow.scalar + 1"]
    assert [d["rule"] for d in found["dependences"]] == ["b-wait"]
    assert found["proved"] is True


def test_a_synchronized_file_is_explained_as_it_is(cli: Cli) -> None:
    text = cli("sync", *CHAIN[1:]).out
    late = text.replace("step1 waits scalar >= shadow.scalar + 1", "step1")
    result = cli("explain", "-", "step1", stdin=late)
    assert "  no waits\n" in result.out
    assert "  [early] nothing makes vector wait for it: step1[2] may be early" in result.out
    assert result.out.endswith("as the program is not proved for all inputs\n")


def test_an_unknown_instruction_is_an_invalid_input(cli: Cli) -> None:
    result = cli("explain", "sync-chain", "step9", *CHAIN[2:])
    assert result.code == 1
    assert result.err.startswith("error: unknown instruction 'step9'\n")
