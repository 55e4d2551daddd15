"""Words on standard error about work that takes long, and other notes; `--quiet` says none.

A command is watched by a thread of its own: what it does is said even while it computes. On a
terminal one line is written again and again, and taken away at the end; else lines are added, with
longer and longer pauses.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import Any, TextIO, cast

from headway import terminal

PATIENCE = 2.0
"""Seconds before the first word."""

PAUSE = 1.0
"""Seconds between two words at least."""

LONGEST_PAUSE = 60.0

CLEAR = "\r\x1b[K"


class _Voice:
    """What is said of the command that runs; there is one in a process."""

    def __init__(self) -> None:
        self.is_quiet = False
        self.step = ""


_VOICE = _Voice()


class Progress:
    """Tell what a command does now: it is said if the command takes long."""

    def __call__(self, step: str) -> None:
        """Say that `step` begins."""
        _VOICE.step = step


def say(note: str) -> None:
    """Print a note on standard error, unless that is unwanted."""
    if not _VOICE.is_quiet and sys.stderr:
        print(note, file=sys.stderr)


@contextmanager
def speaking(command: str, is_quiet: bool, is_watched: bool = True) -> Generator[None]:
    """While this lasts, say how far `command` is once it takes long; or say nothing at all."""
    _VOICE.is_quiet, _VOICE.step = is_quiet, command
    if is_quiet or not is_watched or not sys.stderr:
        yield
        return
    watch = _Line() if sys.stderr.isatty() else _Lines()
    thread = Thread(target=watch.run, daemon=True)
    thread.start()
    output = sys.stdout
    if isinstance(watch, _Line) and output and output.isatty():
        sys.stdout = cast(TextIO, _Output(output, watch.end))
    try:
        yield
    finally:
        sys.stdout = output
        watch.end()
        thread.join()


class _Lines:
    """Adds a line for each step, and with longer and longer pauses."""

    def __init__(self) -> None:
        self.done = Event()
        self.begin = time.monotonic()
        self.said, self.due = "", 0.0

    def run(self) -> None:
        """Say what is done until the end."""
        wait = PATIENCE
        while not self.done.wait(wait):
            self.say(time.monotonic() - self.begin)
            wait = PAUSE

    def end(self) -> None:
        """Say nothing more."""
        self.done.set()

    def say(self, now: float) -> None:
        """Say what is done, if that is worth a line."""
        if _VOICE.step != self.said or now >= self.due:
            self.said, self.due = _VOICE.step, now + min(max(now, PAUSE), LONGEST_PAUSE)
            sys.stderr.write(f"{now:.0f} s: {self.said} ...\n")  # whole, beside other processes
            sys.stderr.flush()


class _Line(_Lines):
    """Writes one line of a terminal again and again, and takes it away at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = Lock()
        self.width = terminal.width(sys.stderr) or terminal.NARROWEST

    def end(self) -> None:
        """Say nothing more, and take away what is said."""
        with self.lock:
            self.done.set()
            if self.said:
                print(CLEAR, end="", file=sys.stderr, flush=True)
                self.said = ""

    def say(self, now: float) -> None:
        """Say what is done, unless the end has come meanwhile."""
        with self.lock:
            if not self.done.is_set():
                self.said = f"{now:.0f} s: {_VOICE.step} ..."[: self.width - 1]
                print(CLEAR + self.said, end="", file=sys.stderr, flush=True)


class _Output:
    """Standard output: as soon as something is printed, nobody has to be told to be patient."""

    def __init__(self, stream: TextIO, before: Callable[[], None]) -> None:
        self._stream = stream
        self._before = before

    def write(self, text: str) -> int:
        """Write after the progress has been taken away."""
        self._before()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
