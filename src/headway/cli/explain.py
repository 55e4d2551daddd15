"""`headway explain`: why one instruction has the waits that it has, and needs no others."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from headway.cli.arguments import (
    add_command,
    add_inputs,
    add_json,
    add_passes,
    add_program,
    add_strategy,
    add_target,
    chosen_passes,
)

if TYPE_CHECKING:
    from headway.certify import Attempt
    from headway.check.reasons import Reason
    from headway.ir.expr import Inputs
    from headway.ir.program import Instr
    from headway.sync.program import SyncProgram, Wait

SMALL = 3
"""What run-time inputs are if nothing else is said: enough to see every distance up to it."""


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "explain",
        "say what an instruction depends on, which waits it has, and why it needs no others",
        "headway explain matmul multiply",
        "headway explain program.hwy store --strategy scoreboard --input n=4 --json",
    )
    add_program(parser)
    parser.add_argument("instruction", metavar="INSTR", help="the name of an instruction")
    add_strategy(parser)
    add_target(parser)
    add_passes(parser)
    add_inputs(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command. A synchronized program is explained as it is."""
    from headway import terminal
    from headway.certify import certify
    from headway.check.reasons import reasons
    from headway.cli.files import print_json

    synced, inputs = _load(args)
    instr = _instruction(synced, args.instruction)
    found = reasons(synced, instr.name, inputs)
    proof = certify(synced)
    waits = _waits(synced, instr)
    if args.json:
        print_json(_json(instr, waits, found, inputs, proof))
    else:
        terminal.show("\n".join(_lines(instr, waits, found, inputs, proof)))
    return 0


def _load(args: Namespace) -> tuple[SyncProgram, Inputs]:
    from headway.cli.inputs import chosen_target, parse_inputs, resolve
    from headway.cli.programs import load_any
    from headway.compiler import synchronize
    from headway.sync.program import SyncProgram

    loaded = load_any(args).program
    if isinstance(loaded, SyncProgram):
        synced = loaded
    else:
        target = chosen_target(args.target, args.limit)
        synced = synchronize(loaded, target, args.strategy, chosen_passes(args.passes))
    small: dict[str, int | list[int]] = {
        decl.name: [SMALL] * 8 if decl.is_list else SMALL for decl in synced.program.inputs
    }
    return synced, resolve(synced.program, small | parse_inputs(args.input))


def _instruction(synced: SyncProgram, name: str) -> Instr:
    from headway.errors import InvalidInput
    from headway.ir.walk import instructions
    from headway.registry import unknown

    found = {instr.name: instr for instr in instructions(synced.program.body)}
    if name not in found:
        raise InvalidInput(unknown("instruction", name, tuple(found)))
    return found[name]


def _waits(synced: SyncProgram, instr: Instr) -> list[Wait]:
    """Return the waits of an instruction: those that it carries, and those just before it."""
    from headway.sync.program import Assign, Exec, Waits, walk_sync

    before: list[Wait] = []
    for node in walk_sync(synced.engine(instr.engine).body):
        if isinstance(node, Waits):
            before += node.waits
        elif isinstance(node, Exec) and node.instr == instr.name:
            return [*before, *node.waits]
        elif not isinstance(node, Assign):
            before = []
    return []


def _rules(proof: Attempt, instr: Instr, reason: Reason) -> str:
    """Return the rule of a dependence in all iterations, for all inputs; "" if it is not proved."""
    kinds = ("write",) if reason.kind == "RAW" else ("access",)
    buffer = reason.access.partition("[")[0]
    found = {
        entry["rule"]
        for entry in proof.certificate.dependences
        if (entry["instruction"], entry["access"]) == (instr.name, reason.access)
        and any(entry["after"].startswith(f"{k} {reason.counter} {buffer}.") for k in kinds)
    }
    return " or ".join(sorted(found)) if proof.is_complete else ""


def _lines(
    instr: Instr, waits: list[Wait], found: list[Reason], inputs: Inputs, proof: Attempt
) -> list[str]:
    from headway.cli.all_inputs import options

    at = f"{instr.at}: " if instr.at else ""
    run_by = f"{instr.engine}, queue {instr.queue}" if instr.queue else instr.engine
    lines = [f"{at}{instr.name} on {run_by}"]
    lines += [f"  wait {wait}" + (f" ({wait.at})" if wait.at else "") for wait in waits]
    lines += [] if waits else ["  no waits"]
    for reason in found:
        distances = ", ".join(reason.distances)
        lines.append(f"{reason.access}: {reason.kind} after {reason.before}, {distances}")
        place = f" ({reason.at})" if reason.at else ""
        lines.append(
            f"  [{_rules(proof, instr, reason) or reason.rule or 'early'}] {reason.text}{place}"
        )
    if not found:
        lines.append("no dependences")
    lines.append(f"the run: {options(inputs)}; {_scope(proof)}")
    return lines


def _scope(proof: Attempt) -> str:
    if proof.is_complete:
        return "the rules are proved for all inputs"
    return "the rules are those of this run, as the program is not proved for all inputs"


def _json(
    instr: Instr, waits: list[Wait], found: list[Reason], inputs: Inputs, proof: Attempt
) -> dict[str, object]:
    return {
        "instruction": instr.name,
        "engine": instr.engine,
        "location": str(instr.at) if instr.at else "",
        "waits": [str(wait) for wait in waits],
        "dependences": [
            {
                "access": reason.access,
                "kind": reason.kind,
                "before": reason.before,
                "counter": reason.counter,
                "distances": reason.distances,
                "rule": _rules(proof, instr, reason) or reason.rule,
                "text": reason.text,
                "location": str(reason.at) if reason.at else "",
            }
            for reason in found
        ],
        "inputs": dict(inputs),
        "proved": proof.is_complete,
    }
