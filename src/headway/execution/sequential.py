"""Execute a program as it is written: the meaning that synchronization has to keep."""

from __future__ import annotations

from collections.abc import Sequence

from headway.errors import Diagnostic, InvalidInput
from headway.ir.expr import Inputs
from headway.ir.program import Instr
from headway.spec import Instance, instances
from headway.values import Traced
from headway.values.execute import execute, unknown
from headway.values.memory import Contents


def executed(traced: Traced, inputs: Inputs) -> Sequence[Instance]:
    """Return the instances that compute something, in order. Raise InvalidInput."""
    missing = {n: why for n, m in traced.values.meanings.items() if (why := unknown(m))}
    for name, reason in missing.items():
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise InvalidInput(
            Diagnostic(
                f"it is not known what {name!r} computes{more}",
                traced.values.meanings[name].at,
                rule=reason,
                help="the operations with values are in docs/nki.md",
            )
        )
    return [i for i in instances(traced.program, inputs) if isinstance(i.node, Instr)]


def sequential(traced: Traced, inputs: Inputs, contents: Contents) -> int:
    """Execute the program in order; return how many instructions that were.

    `contents` is changed. Raise InvalidInput on inputs that do not fit, and as `execute` does.
    """
    found = executed(traced, inputs)
    for instance in found:
        execute(traced.values, instance.node.name, instance.iteration, contents)
    return len(found)
