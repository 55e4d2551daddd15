"""Reading and writing: whole texts only, and nothing written if anything fails."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from headway.errors import InvalidInput
from headway.ir import decode

STANDARD_INPUT = "-"


def read_text(name: str) -> str:
    """Return the text of a file, or of standard input for `-`. Raise HeadwayError."""
    return decode(read_bytes(name), display_name(name))


def read_bytes(name: str) -> bytes:
    """Return the content of a file, or of standard input for `-`. Raise InvalidInput."""
    try:
        return _standard_input() if name == STANDARD_INPUT else Path(name).read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot read {name!r}: {_reason(error)}") from None
    except ValueError as error:  # a NUL in the name
        raise InvalidInput(f"cannot read {name!r}: {error}") from None


def _standard_input() -> bytes:
    if not sys.stdin:
        raise InvalidInput("cannot read standard input: it is closed")
    return sys.stdin.buffer.read()


def display_name(name: str) -> str:
    """Return what messages call a file."""
    return "<stdin>" if name == STANDARD_INPUT else name


def write_text(name: str | None, text: str) -> None:
    """Write a file in one step, so that it is never half there; None is standard output."""
    if name is None or name == "-":
        sys.stdout.write(text)
        return
    write_bytes(name, text.encode())


def write_bytes(name: str, data: bytes) -> None:
    """Write a file in one step, so that it is never half there. Raise InvalidInput."""
    path = Path(os.path.realpath(name))  # replace what a link points at, not the link
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # a device or a pipe
        else:
            _replace(path, data)
    except OSError as error:
        raise InvalidInput(f"cannot write {name!r}: {_reason(error)}") from None


def _replace(path: Path, data: bytes) -> None:
    mode = path.stat().st_mode if path.exists() else 0o666 & ~_umask()
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def print_json(value: object) -> None:
    """Print one JSON object on standard output."""
    print(json.dumps(value, indent=2))


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
