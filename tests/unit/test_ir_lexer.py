"""Words and places."""

import gc

import pytest

from headway.errors import Location, SyntaxProblem
from headway.ir.lexer import END, Piece, Text, decode, first_word
from headway.ir.walk import no_collection


def words(text: str) -> list[str]:
    return Text(text, "f").words[:-1]


def test_signs_of_two_characters_are_one_word() -> None:
    assert words("a:=b//c<=d>=e==f!=g<h") == "a := b // c <= d >= e == f != g < h".split()


def test_dots_join_the_parts_of_a_name_and_a_minus_separates() -> None:
    assert words("last.Q.W.b-1") == ["last.Q.W.b", "-", "1"]


def test_title_may_have_hyphens() -> None:
    assert words("@calibration-loop {") == ["@calibration-loop", "{"]


def test_number_may_have_a_point_and_an_exponent() -> None:
    assert words("12 1.5 1e+22 2.5e-07") == ["12", "1.5", "1e+22", "2.5e-07"]


def test_remark_ends_with_its_line_and_a_slash_pair_inside_a_line_is_a_word() -> None:
    assert words("a # b\n  // c\nd // e") == ["a", "d", "//", "e"]


def test_what_is_not_in_the_language_is_kept_as_a_word() -> None:
    assert words("a\x00é\u00a0²") == ["a", "\x00", "é", "\u00a0", "²"]


def test_every_word_knows_its_place() -> None:
    text = Text("\n  a bc\n\n\td # e\n", "f")
    places = [text.place(index) for index in range(len(text.words))]
    assert [(p.line, p.column) for p in places] == [(2, 3), (2, 5), (4, 2), (5, 1)]
    assert text.words[-1] == END


def test_words_of_a_line_are_given_up_to_the_one_asked_for() -> None:
    assert Text("x\na b c", "f").line_words(2) == ["a", "b"]


def test_first_word_skips_remarks_and_blank_lines() -> None:
    assert first_word("# a\n\n // b\n sync @x {") == "sync"
    assert first_word("\n # only this") == END


def test_bytes_that_are_not_text_are_refused_at_their_place() -> None:
    with pytest.raises(SyntaxProblem) as caught:
        decode(b"program\n \xff", "a.hwy")
    assert caught.value.diagnostics[0].at == Location("a.hwy", 2, 2)
    assert str(caught.value) == (
        "a.hwy:2:2: error: byte 0xff is not UTF-8 text\n"
        "  help: a program is a file of UTF-8 text: save it as UTF-8, or name another file"
    )


def test_byte_order_mark_is_not_part_of_the_text() -> None:
    assert decode(b"\xef\xbb\xbfprogram", "a.hwy") == "program"


def fail_inside() -> None:
    with no_collection():
        assert not gc.isenabled()
        raise KeyError


def test_garbage_collector_is_as_it_was_after_an_error() -> None:
    assert gc.isenabled()
    with pytest.raises(KeyError):
        fail_inside()
    assert gc.isenabled()


def test_clause_is_one_word_and_its_piece_has_the_words_and_places_inside() -> None:
    text = Text("\n  A a reads(b[(i) % 2]) takes (1)", "f")
    assert text.words == ["A", "a", "reads(b[(i) % 2])", "takes", "(", "1", ")", END]
    piece = Piece(text, 2)
    assert piece.words == ["reads", "(", "b", "[", "(", "i", ")", "%", "2", "]", ")", END]
    assert piece.place(5) == Location("f", 2, 16)
    assert piece.line(piece.place(5)) == "  A a reads(b[(i) % 2]) takes (1)"
    assert piece.line_words(1) == ["reads", "("]


def test_clause_without_end_is_several_words() -> None:
    assert words("reads(b[(i]\n)") == ["reads", "(", "b", "[", "(", "i", "]", ")"]
