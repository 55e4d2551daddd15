"""The reasons that time is spent for."""

from __future__ import annotations

from enum import IntEnum


class Reason(IntEnum):
    """What a nanosecond of an engine, of a queue or of the critical path was spent on."""

    WORKING = 0  # the datapath computes; a transfer moves
    WAITING = 1  # for an instance that has not completed
    QUEUE_BUSY = 2  # for a transfer behind others of its queue, or of the shared bandwidth
    TRIGGER = 3  # the engine triggers a transfer; the transfer is dispatched to its queue
    HOP = 4  # from a completion to the engine that waits for it
    WAIT_INSTRUCTION = 5  # a wait that no instruction could carry
    REGISTER = 6  # operations on registers
    LOOP_CONTROL = 7  # iterations, ends of loops, ifs
    LOAD = 8  # of a control value that lies in memory
    FLAG = 9  # set or take
    ISSUE = 10  # of an instruction, as far as the datapath does not work meanwhile
    BARRIER = 11  # drain, rendezvous, reset, second rendezvous
    IDLE = 12  # after the last instruction; for a queue, with nothing triggered

    @property
    def label(self) -> str:
        """The reason in words."""
        return self.name.lower().replace("_", " ")
