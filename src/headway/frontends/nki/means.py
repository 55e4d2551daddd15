"""What a recorded operation computes: the name of its meaning, and which operand is which.

The meanings are those of `headway.values.operations`. What differs from one execution to the next
(offsets of operands, numbers) is no part of this, so that iterations can be one body.
"""

from __future__ import annotations

from typing import NamedTuple


class Means(NamedTuple):
    """The meaning of an operation.

    `roles` names every operand, in the order in which they were recorded; "" is one that only says
    where another one lies. `literals` names the numbers of `Op.literals`. `settings` are the words
    of the call, such as the function that an activation applies. Without an `operation` it is not
    known what the operation computes, and `settings` may say why.
    """

    operation: str = ""
    roles: tuple[str, ...] = ()
    literals: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()


UNKNOWN = Means()
