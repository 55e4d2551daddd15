"""The keyword arguments of a call: one that it does not have is an error, never ignored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from inspect import Parameter, signature
from typing import Any

from headway.frontends.nki.places import problem

HINTS = frozenset(
    "directives lazy_initialization mask max_free_vec_size mode name precise_schedule".split()
)
"""Names, and what older releases let a kernel tell the compiler: they change no values."""


def only(call: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Check that a call has these keywords. Raise InvalidProgram, which lists those there are."""
    for key in given:
        if key in known or key in HINTS:
            continue
        close = get_close_matches(key, known, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise problem(
            f"{call} has no keyword argument {key!r}",
            help=f"{hint}its keywords: {', '.join(dict.fromkeys(known)) or 'none'}",
        )


@cache
def keywords_of(function: Callable[..., Any], more: str = "") -> tuple[str, ...]:
    """Return the keywords that a function names, and `more` that it takes and does not need."""
    named = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    parameters = signature(function).parameters.values()
    return (*(p.name for p in parameters if p.kind in named), *more.split())


def takes_any(parameters: Mapping[str, Parameter]) -> bool:
    """Tell whether a function with these parameters takes keywords that it does not name."""
    return any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def checked(call: str, function: Callable[..., Any], more: str = "") -> Callable[..., Any]:
    """Return a function that refuses keywords it does not have; it gets those that it takes."""
    known = keywords_of(function, more)
    takes_all = takes_any(signature(function).parameters)

    def checking(*args: Any, **keywords: Any) -> Any:
        only(call, keywords, known)
        taken = keywords if takes_all else {k: v for k, v in keywords.items() if k in known}
        try:
            return function(*args, **taken)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # not the call itself
            raise problem(
                _misfit(call, str(error)), help=f"its parameters: {', '.join(known)}"
            ) from None

    return checking


def _misfit(call: str, text: str) -> str:
    """Say what Python says of a call that does not fit its parameters, of the kernel's call."""
    fact = text.partition("() ")[2]
    return f"{call} is {fact}" if fact.startswith("missing") else f"{call} {fact}"
