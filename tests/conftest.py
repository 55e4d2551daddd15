"""What tests of several folders share."""

import io
import sys

import pytest
from command_line import Cli, Result

from headway import progress
from headway.cli.main import main


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "property: random programs, HEADWAY_PROGRAMS of them")
    config.addinivalue_line("markers", "thorough: takes seconds; scripts/check leaves it out")


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run one command in this process: `cli("sync", "-", stdin=text)`."""

    def run(*arguments: str, stdin: str | bytes = "") -> Result:
        monkeypatch.setattr(progress, "PATIENCE", 3600)  # tests wait for each other
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        try:
            code = main(arguments)
        except SystemExit as exit:  # argparse leaves this way
            code = int(exit.code or 0)
        return Result(code, *capsys.readouterr())

    return run
