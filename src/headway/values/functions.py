"""Functions of elements, by the names that kernels use.

Arithmetic is in float32. Bitwise functions work on whole numbers, and so does arithmetic of two
tiles of 32-bit integers, which gpsimd does exactly; both are computed in int64 and lose their high
bits when they are written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from headway.errors import HeadwayError
from headway.values.numbers import as_float, is_integer, np

_ERF = np.frompyfunc(math.erf, 1, 1)
_SQRT_2, _SQRT_PI = np.float32(math.sqrt(2)), np.float32(math.sqrt(math.pi))


def _erf(x: Any) -> Any:
    return _ERF(x.astype(np.float64)).astype(np.float32)


def _sigmoid(x: Any) -> Any:
    return np.float32(1) / (np.float32(1) + np.exp(-x))


def _softplus(x: Any) -> Any:
    return np.logaddexp(np.float32(0), x)


def _erf_dx(x: Any) -> Any:
    return np.float32(2) / _SQRT_PI * np.exp(-x * x)


def _gelu(x: Any) -> Any:
    return np.float32(0.5) * x * (np.float32(1) + _erf(x / _SQRT_2))


def _gelu_dx(x: Any) -> Any:
    density = np.exp(-x * x / np.float32(2)) / np.float32(math.sqrt(2 * math.pi))
    return np.float32(0.5) * (np.float32(1) + _erf(x / _SQRT_2)) + x * density


def _gelu_tanh(x: Any) -> Any:
    inner = np.float32(math.sqrt(2 / math.pi)) * (x + np.float32(0.044715) * x * x * x)
    return np.float32(0.5) * x * (np.float32(1) + np.tanh(inner))


def _silu_dx(x: Any) -> Any:
    s = _sigmoid(x)
    return s * (np.float32(1) + x * (np.float32(1) - s))


UNARY: Mapping[str, Callable[[Any], Any]] = {
    "abs": np.abs,
    "arctan": np.arctan,
    "ceil": np.ceil,
    "copy": np.array,
    "cos": np.cos,
    "erf": _erf,
    "erf_dx": _erf_dx,
    "exp": np.exp,
    "floor": np.floor,
    "gelu": _gelu,
    "gelu_apprx_sigmoid": lambda x: x * _sigmoid(np.float32(1.702) * x),
    "gelu_apprx_tanh": _gelu_tanh,
    "gelu_dx": _gelu_dx,
    "identity": np.array,
    "log": np.log,
    "logical_not": lambda x: x == 0,
    "mish": lambda x: x * np.tanh(_softplus(x)),
    "negative": np.negative,
    "reciprocal": lambda x: np.float32(1) / x,
    "relu": lambda x: np.maximum(x, np.float32(0)),
    "rsqrt": lambda x: np.float32(1) / np.sqrt(x),
    "sigmoid": _sigmoid,
    "sign": np.sign,
    "silu": lambda x: x * _sigmoid(x),
    "silu_dx": _silu_dx,
    "sin": np.sin,
    "softplus": _softplus,
    "sqrt": np.sqrt,
    "square": np.square,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
}

BITWISE: Mapping[str, Callable[..., Any]] = {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "left_shift": np.left_shift,
    "right_shift": np.right_shift,
}

BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "abs_max": lambda x, y: np.maximum(np.abs(x), np.abs(y)),
    "abs_min": lambda x, y: np.minimum(np.abs(x), np.abs(y)),
    "add": np.add,
    "divide": np.divide,
    "equal": np.equal,
    "fmod": np.fmod,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "mod": np.mod,
    "multiply": np.multiply,
    "not_equal": np.not_equal,
    "power": np.power,
    "subtract": np.subtract,
}


def _all(x: Any, axis: Any) -> Any:
    return np.all(x != 0, axis=axis)


def _any(x: Any, axis: Any) -> Any:
    return np.any(x != 0, axis=axis)


REDUCTIONS: Mapping[str, Any] = {
    "add": np.add.reduce,
    "all": _all,
    "any": _any,
    "maximum": np.maximum.reduce,
    "mean": np.mean,
    "minimum": np.minimum.reduce,
    "multiply": np.multiply.reduce,
    "var": np.var,
}

_SAME = {
    "absolute": "abs",
    "bitwise_not": "invert",
    "floor_mod": "mod",
    "max": "maximum",
    "min": "minimum",
    "prod": "multiply",
    "remainder": "mod",
    "sum": "add",
    "true_divide": "divide",
}


def plain_name(function: str) -> str:
    """Return one name for a function that has several."""
    return _SAME.get(function, function)


def unary(function: str, x: Any) -> Any:
    """Return a function of each element. Raise HeadwayError if it is unknown."""
    name = plain_name(function)
    if name == "invert":
        return np.invert(x.astype(np.int64))
    return _known(UNARY, name)(as_float(x))


def binary(function: str, x: Any, y: Any, is_exact: bool = False) -> Any:
    """Return a function of the elements of two arrays or numbers. Raise HeadwayError.

    `is_exact` asks for whole-number arithmetic.
    """
    name = plain_name(function)
    if name in BITWISE:
        return BITWISE[name](_whole(function, x), _whole(function, y))
    if is_exact and name != "divide" and name != "power":
        return _known(BINARY, name)(_whole(function, x), _whole(function, y))
    return _known(BINARY, name)(as_float(x), as_float(y))


def reduction(function: str, x: Any, axes: tuple[int, ...]) -> Any:
    """Return a reduction over axes, in float32. Raise HeadwayError if it is unknown."""
    return _known(REDUCTIONS, plain_name(function))(as_float(x), axis=axes)


def are_wide_integers(*arrays: Any) -> bool:
    """Tell whether gpsimd computes exactly with these: 32-bit integers all."""
    return all(is_integer(array) and array.dtype.itemsize == 4 for array in arrays)


def _whole(function: str, x: Any) -> Any:
    array = np.asarray(x)
    if array.dtype.kind not in "iub":
        if np.any(array != np.rint(array)):
            raise HeadwayError(f"{function} of numbers that are not whole")
    return array.astype(np.int64)


def _known(table: Mapping[str, Any], name: str) -> Any:
    if name not in table:
        raise HeadwayError(f"there are no values of the function {name!r}")
    return table[name]
