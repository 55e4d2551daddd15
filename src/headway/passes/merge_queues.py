"""Let transfers of one engine share a queue, so that fewer counters are waited for.

In     a bound program
Out    the same with one queue less: the transfers of two queues of one host are one row
Keeps  the program; transfers that were independent of each other may wait for each other
Cost   linear

    queue a on sync   queue b on sync        queue a on sync
    sync la triggers(a)                ->    sync la triggers(a)
    sync lb triggers(b)                      sync lb triggers(a)

Two counters cannot share a semaphore as they are: their completions are in no order among each
other, so that a sum tells nothing of either (H1). This comes before a strategy.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from headway.ir.program import Instr, Program, Queue
from headway.ir.walk import deep_nests, instructions
from headway.passes._bodies import Body, with_bodies
from headway.passes.sync_pass import Concession


def merged(program: Program) -> tuple[Program, Concession] | None:
    """Return the program with two queues in one, those with the fewest transfers; None if none."""
    transfers = Counter(instr.queue for instr in instructions(program.body) if instr.queue)
    pairs = [
        (transfers[a.name] + transfers[b.name], number, a, b)
        for number, a in enumerate(program.queues)
        for b in program.queues[number + 1 :]
        if a.host == b.host and transfers[a.name] and transfers[b.name]
    ]
    if not pairs:
        return None
    _, _, kept, gone = min(pairs, key=lambda pair: pair[:2])
    with deep_nests():
        body = _renamed(program.body, kept, gone)
    queues = tuple(queue for queue in program.queues if queue is not gone)
    message = f"transfers of {gone.name} run in queue {kept.name}: too few semaphores"
    concession = Concession("semaphores", kept.host, message)
    return replace(program, body=body, queues=queues), concession


def _renamed(body: Body, kept: Queue, gone: Queue) -> Body:
    return tuple(
        (replace(node, queue=kept.name) if node.queue == gone.name else node)
        if isinstance(node, Instr)
        else with_bodies(node, lambda part: _renamed(part, kept, gone))
        for node in body
    )
