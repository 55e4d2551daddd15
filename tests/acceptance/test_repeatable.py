"""What is compiled twice is the same twice: text does not depend on the seed of Python's hashes."""

import os
import subprocess
import sys

PRINT = """
from headway import kernels, strategies
from headway.check.generate import generate
from headway.compiler import synchronize
from headway.errors import UnsupportedByTarget
from headway.sync.printer import to_text

programs = [kernels.load(name).program() for name in ("moe-while", "moe-hybrid", "sync-chain")]
programs += [generate(seed).program for seed in range(10)]
for program in programs:
    for strategy in strategies.names():
        for target in ("generic", "trn2"):
            try:
                print(to_text(synchronize(program, target, strategy)))
            except UnsupportedByTarget as error:
                print(error.diagnostics[0].message)
"""


def test_engine_programs_do_not_depend_on_the_hash_seed() -> None:
    # Two seeds that differed by the order of semaphores when `scoreboard` walked a set of engines.
    texts = [_printed(seed) for seed in ("0", "1")]
    assert texts[0]
    assert texts[0] == texts[1]


def _printed(seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    run = [sys.executable, "-c", PRINT]
    return subprocess.run(run, env=environment, check=True, capture_output=True, text=True).stdout
