"""`headway explore`: all interleavings of a small synchronized program."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from headway.cli.arguments import add_command, add_inputs, add_json, add_synced, positive
from headway.cli.codes import CHECK_FAILED

if TYPE_CHECKING:
    from headway.check.explore import Comparison, Exploration


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "explore",
        "try all orders of issues and completions of a small synchronized program",
        "headway explore synced.hwy --input n=3",
        "headway sync program.hwy | headway explore - --input n=3 --ideal --json",
    )
    add_synced(parser)
    add_inputs(parser)
    parser.add_argument(
        "--ideal",
        action="store_true",
        help="compare with the ideal machine: the same states can be reached, no more, no fewer",
    )
    parser.add_argument(
        "--states", type=positive, default=200_000, metavar="N", help="at most so many (200000)"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command; the exit code is 3 if something is early, stuck or not like the ideal."""
    from headway import terminal
    from headway.check.explore import compare, explore
    from headway.cli.files import print_json
    from headway.cli.inputs import parse_inputs, resolve
    from headway.cli.programs import load_synced

    synced = load_synced(args.synced)
    inputs = resolve(synced.program, parse_inputs(args.input))
    comparison = compare(synced, inputs, args.states) if args.ideal else None
    found = comparison.given if comparison else explore(synced, inputs, args.states)
    if args.json:
        print_json(_facts(found, comparison))
    else:
        terminal.show("\n".join(_lines(found, comparison)))
    is_like_ideal = comparison is None or comparison.is_equal
    return 0 if found.verdict == "sound" and is_like_ideal else CHECK_FAILED


def _facts(found: Exploration, comparison: Comparison | None) -> dict[str, object]:
    facts: dict[str, object] = {
        "verdict": found.verdict,
        "states": found.states,
        "transitions": found.transitions,
        "states_per_second": round(_speed(found)),
        "early": [early._asdict() for early in sorted(found.early)],
        "stuck": sorted(found.stuck),
        "lost": sorted(found.lost),
    }
    if comparison:
        facts["ideal_states"] = comparison.ideal.states
        facts["bisimilar"] = comparison.is_equal
    return facts


def _speed(found: Exploration) -> float:
    return found.states / max(found.seconds, 1e-9)


def _lines(found: Exploration, comparison: Comparison | None) -> list[str]:
    lines = [
        f"{found.verdict}: {found.states:,} states, {found.transitions:,} transitions,"
        f" {_speed(found):,.0f} states per second"
    ]
    for early in sorted(found.early):
        lines.append(
            f"early: some order issues {early.instance} before signal {early.position} of"
            f" {early.counter}"
        )
    if found.stuck:
        lines.append(f"deadlock: some order ends with {', '.join(sorted(found.stuck))} standing")
    lines += [f"deadlock: some order loses a token of {flag}" for flag in sorted(found.lost)]
    if comparison:
        lines.append(_likeness(comparison))
    return lines


def _likeness(comparison: Comparison) -> str:
    given, ideal = comparison.given.observed, comparison.ideal.observed
    if comparison.is_equal:
        return f"like the ideal machine: the same {len(ideal):,} states can be reached"
    return (
        f"not like the ideal machine: {len(ideal - given):,} of its {len(ideal):,} states cannot be"
        f" reached, and {len(given - ideal):,} others can"
    )
