"""Names, and what is said about misspelled ones."""

import pytest

from headway.ir.names import WORDS, is_name, is_title, shown, suggestion


@pytest.mark.parametrize("name", ["a", "_1", "shadow.Q", "add.2", "A.control", "aB_9.0"])
def test_is_a_name(name: str) -> None:
    assert is_name(name)


@pytest.mark.parametrize("name", ["", "1a", "a-b", "a.", ".a", "a..b", "a b", "é", "a\n", "b[0]"])
def test_is_not_a_name(name: str) -> None:
    assert not is_name(name)


def test_title_may_have_hyphens_and_no_blanks() -> None:
    assert is_title("barrier-always")
    assert not is_title("barrier always")


def test_long_and_unprintable_words_are_shown_short_and_escaped() -> None:
    assert shown("x" * 10_000) == repr("x" * 37 + "...")
    assert shown("\x00") == "'\\x00'"


def test_suggestion_is_the_closest_known_word() -> None:
    assert suggestion("lop", WORDS) == "did you mean 'loop'?"
    assert suggestion("loop", WORDS) == ""
    assert suggestion("vector", WORDS) == ""
    assert suggestion("x" * 10**7, WORDS) == ""
