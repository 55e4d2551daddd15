"""Run-time inputs and kernel parameters on the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from headway import targets
from headway.cli.files import read_text
from headway.errors import Diagnostic, InvalidInput
from headway.ir.program import InputDecl, Program
from headway.registry import unknown
from headway.targets import Target
from headway.targets.limits import limited

Value = int | list[int]


def parse_inputs(arguments: Iterable[str]) -> dict[str, Value]:
    """Return the inputs of `--input` arguments; later ones win. Raise InvalidInput."""
    inputs: dict[str, Value] = {}
    for argument in arguments:
        if argument.startswith("@"):
            inputs |= _from_file(argument[1:])
        else:
            name, value = split_pair("--input", argument)
            inputs[name] = _value(name, value)
    return inputs


def split_pair(option: str, argument: str) -> tuple[str, str]:
    """Split `NAME=VALUE`. Raise InvalidInput."""
    name, equals, value = argument.partition("=")
    if not equals or not name.strip():
        raise InvalidInput(
            Diagnostic(f"{option} {argument!r} is not NAME=VALUE", help=f"{option} n=7")
        )
    return name.strip(), value.strip()


def _value(name: str, text: str) -> Value:
    """Read `7` as a number and `2,0,1`, `2,` or nothing as a list."""
    numbers = [number for part in text.split(",") if (number := part.strip())]
    if not all(re.fullmatch(r"[+-]?[0-9]{1,18}", number) for number in numbers):
        raise InvalidInput(
            Diagnostic(
                f"run-time input {name!r} is {text!r}",
                rule="an input is a whole number of at most 18 digits, or a list of them",
                help=f"--input {name}=7 or --input {name}=2,0,1",
            )
        )
    return int(numbers[0]) if numbers and "," not in text else [int(n) for n in numbers]


def _from_file(name: str) -> dict[str, Value]:
    try:
        loaded: object = json.loads(read_text(name))
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidInput(f"{name} is not JSON: {error}") from None
    if isinstance(loaded, dict):
        inputs = cast("dict[str, object]", loaded)
        if all(map(_is_value, inputs.values())):
            return cast("dict[str, Value]", inputs)
    raise InvalidInput(
        Diagnostic(
            f"{name} does not hold the run-time inputs",
            rule="an object of names with whole numbers or lists of them",
            help='for example {"n": 7, "m": [2, 0, 1]}',
        )
    )


def _is_value(value: object) -> bool:
    if isinstance(value, list):
        return all(type(number) is int for number in cast("list[object]", value))
    return type(value) is int


def resolve(program: Program, given: Mapping[str, Value]) -> dict[str, Value]:
    """Return an input for every declaration of `program`. Raise InvalidInput with all problems."""
    declared = {decl.name: decl for decl in program.inputs}
    problems = [
        unknown("run-time input", name, tuple(declared)) for name in given if name not in declared
    ]
    resolved: dict[str, Value] = {}
    for name, decl in declared.items():
        value = given.get(name)
        if decl.is_list and isinstance(value, int):
            value = [value]
        if value is None or isinstance(value, list) != decl.is_list:
            problems.append(_unfit(decl, value))
        else:
            resolved[name] = value
    if problems:
        raise InvalidInput(*problems)
    return resolved


def _unfit(decl: InputDecl, value: Value | None) -> Diagnostic:
    wanted = "a list of numbers" if decl.is_list else "a number"
    state = "is missing" if value is None else "is a list"
    return Diagnostic(
        f"run-time input {decl.name!r} {state}; the program needs {wanted}",
        decl.at,
        help=f"--input {decl.name}={'2,0,1' if decl.is_list else '3'}",
    )


def parse_params(arguments: Iterable[str]) -> dict[str, Any]:
    """Return the kernel parameters of `--param` arguments: whole numbers. Raise InvalidInput."""
    return _whole_numbers("--param", "kernel parameter", "a parameter", arguments)


def chosen_target(name: str, limits: Iterable[str]) -> Target:
    """Return the target of that name with the limits of `--limit` arguments. Raise InvalidInput."""
    return limited(targets.load(name), _whole_numbers("--limit", "limit", "a limit", limits))


def _whole_numbers(option: str, kind: str, rule: str, arguments: Iterable[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for argument in arguments:
        name, text = split_pair(option, argument)
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
            message = f"{kind} {name!r} is {text!r}"
            raise InvalidInput(Diagnostic(message, rule=f"{rule} is a whole number"))
        found[name] = int(text)
    return found
