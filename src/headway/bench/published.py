"""Times that others measured on Trainium, each with a program here that does the same work.

Programs are of the suite, or NKI kernels of our own of the published shapes, traced by the front
end. What a compiler unrolls is simulated without the costs of loops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from headway import kernels, targets
from headway.bench.remainder import COSTS, without
from headway.compiler import synchronize
from headway.frontends import ArgSpec, record
from headway.frontends.nki.memory import AUTOMATIC, Buffers
from headway.ir import parse
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.kernels._traced import FOLDER
from headway.sim import simulate, simulate_ideal
from headway.targets import Target

Run = Callable[[Target], float]
"""What is compared with the published figure, in us."""


@dataclass(frozen=True, slots=True)
class Published:
    """A figure in us: where it was published, on what, and why the model differs if it does."""

    what: str
    source: str
    target: str
    us: float
    run: Run
    why: str = ""


def _latency(program: Program, inputs: Inputs, target: Target, strategy: str = "counted") -> float:
    return simulate(synchronize(program, target, strategy), inputs, target).latency / 1000


def _loop(tiles: int, strategy: str) -> Run:
    """Return the time per tile of the calibration loop: 64 tiles, so many in an iteration."""
    program = kernels.load("calibration-loop").program(tiles=tiles)

    def run(target: Target) -> float:
        return _latency(program, {"n": 64 // tiles}, target, strategy) / 64

    return run


def _kernel(
    file: str,
    args: Mapping[str, str],
    buffers: Buffers = AUTOMATIC,
    name: str = "",
    bounds: Mapping[str, str] | None = None,
    inputs: Inputs | None = None,
) -> Run:
    """Return the time of an NKI kernel that a compiler unrolls."""

    @cache
    def program() -> Program:
        specs = {key: ArgSpec.parse(text) for key, text in args.items()}
        trace = record(FOLDER / f"{file}.py", name or file, specs)
        return trace.program(bounds or {}, buffers)

    return lambda target: _latency(program(), inputs or {}, without_loops(target))


def without_loops(target: Target) -> Target:
    """Return a target on which loops and branches cost nothing, as in an unrolled program."""
    return without(target, COSTS["loops"])


ATTENTION = """\
program @attention-tile {{
  input n
  queue loads on sync
  buffer k slots 2 space(sbuf)
  buffer v slots 2 space(sbuf)
  buffer scores space(psum)
  buffer p space(sbuf)
  buffer turned space(psum)
  buffer pt space(sbuf)
  buffer part space(psum)
  buffer state space(sbuf)
  loop i n {{
    sync load_k triggers(loads) writes(k[{ahead} % 2]) does(dma, bytes=131072, moves=load)
    sync load_v triggers(loads) writes(v[{ahead} % 2]) does(dma, bytes=131072, moves=load)
    tensor score reads(k[i % 2]) writes(scores) does(matmul, elements=512, dtype=bfloat16)
    vector max reads(scores, state) writes(state) does(tensor_reduce, elements=512)
    scalar exp reads(scores, state) writes(p) does(activation_reduce, elements=512)
    {turns}
    vector keep reads(turned) writes(pt) does(tensor_copy, elements=512)
    {sums}
    vector add reads(part, state) writes(state) does(scalar_tensor_tensor, elements=128)
  }}
}}
"""
TURN = "tensor turn{n} reads(p) writes(turned) does(transpose, elements=128)"
SUM = """\
tensor weigh{n} reads(pt, v[i % 2], part) writes(part)
      does(matmul, elements=128, dtype=bfloat16)"""


def _boundary(ahead: str) -> Run:
    """Return what a barrier per iteration costs a tile of attention, whose loads are `ahead`."""
    turns, sums = ("\n    ".join(line.format(n=n) for n in range(4)) for line in (TURN, SUM))
    text = ATTENTION.format(ahead=ahead, turns=turns, sums=sums)
    program = parse(text, "attention-tile")
    trips = 64

    def run(target: Target) -> float:
        bound = targets.bind(program, target)
        ideal = simulate_ideal(bound, {"n": trips}, target).latency / 1000
        return (_latency(program, {"n": trips}, target, "barrier") - ideal) / trips

    return run


def _single_matmul(target: Target) -> float:
    """Return the time of one matmul among a thousand."""
    matmul = "tensor m reads(sums) writes(sums) does(matmul, elements=512, dtype=bfloat16)"
    program = parse(f"program @m {{ buffer sums\nloop i 1000 {{ {matmul} }} }}", "matmul")
    return _latency(program, {}, without_loops(target)) / 1000


def _mamba(time: int, length: int) -> Run:
    """Return the time of a scan of 4,096 channels with 16 states, `length` of the time at once."""
    args = {
        **dict.fromkeys(("delta", "u"), f"float32[512,{time}]"),
        "a": "float32[512,16]",
        **dict.fromkeys("bc", f"float32[16,{time}]"),
        **{"length": str(length), "tiles": "1"},
    }
    return _kernel("mamba", args, 2, bounds={"i": "n"}, inputs={"n": 4096 // 128})


LOOPS = "NKI guide to dynamic loops"
PROFILES = "Neuron agentic development guide, profile analysis"
DESIGN = "nki-library, design of dynamic attention"
FITS = "voyager-compiler, hardware runs of public kernels"
MAMBA = "NKI tutorial: fused Mamba"

_SQUARE = dict.fromkeys("ab", "bfloat16[4096,4096]")
_BLOCKS = {**_SQUARE, "block_rows": "8", "block_columns": "2"}
_ROW = "float32[1,8192]"
_UNIT = {"identity": "float32[128,128]"}

_SPILLS = "the published kernel spills to HBM; here everything fits"
_OPERANDS = "not explained"
_ONE_QUEUE = "all loads come through one queue here, 600 ns apart, also before the first product"
_CHEAP = (
    "barriers of trn2 are assumed to be cheap, and what the published cost contains is not said"
)

FIGURES = (
    Published("loop, unrolled, a tile", LOOPS, "trn1", 7.5, _loop(1, "counted")),
    Published("loop, barrier per tile, a tile", LOOPS, "trn1", 17.9, _loop(1, "barrier")),
    Published(
        "loop, barrier per four tiles, a tile",
        LOOPS,
        "trn1",
        10.2,
        _loop(4, "barrier"),
        "transfers come first come, first served: no load waits behind a store",
    ),
    Published("attention, barrier, cost per iteration", DESIGN, "trn2", 9, _boundary("i"), _CHEAP),
    Published(
        "the same, loads one iteration ahead", DESIGN, "trn2", 4, _boundary("(i + 1)"), _CHEAP
    ),
    Published("matmul 128 x 128 x 512, sustained", FITS, "trn2", 0.217, _single_matmul),
    Published(
        "matmul 4096, tile by tile",
        PROFILES,
        "trn2",
        8602,
        _kernel("matmul", {**_SQUARE, "tiles": "1"}, 4),
        "the profile moves one operand 3 times, the program 32 times as written",
    ),
    Published(
        "matmul 4096, blocks", PROFILES, "trn2", 2451, _kernel("matmul", _BLOCKS, name="blocked")
    ),
    Published(
        "matmul 4096, blocks by rows",
        PROFILES,
        "trn2",
        1801,
        _kernel("matmul", _BLOCKS, name="blocked_by_rows"),
        _ONE_QUEUE,
    ),
    Published(
        "LayerNorm, 4096 x 8192",
        FITS,
        "trn2",
        1728,
        _kernel(
            "layernorm", {"x": "float32[4096,8192]", "gamma": _ROW, "beta": _ROW, "tiles": "1"}
        ),
        "here the scalar engine squares; where the published kernel does is not said",
    ),
    Published(
        "max pooling 3 x 3, 4096 x 4096",
        FITS,
        "trn2",
        1358,
        _kernel("maxpool", {"image": "float32[4098,4098]", "tiles": "1"}),
    ),
    Published(
        "SwiGLU, 4096 x 1024 x 3072",
        FITS,
        "trn2",
        4082,
        _kernel(
            "swiglu",
            {
                "x": "float32[4096,1024]",
                **dict.fromkeys(("gate", "up"), "float32[1024,3072]"),
                "down": "float32[3072,1024]",
                **_UNIT,
            },
        ),
    ),
    Published(
        "matmul and softmax, 16 x 4096 x 64 x 4096",
        FITS,
        "trn2",
        14591,
        _kernel("bmm_softmax", {"a": "float32[16,4096,64]", "b": "float32[16,64,4096]", **_UNIT}),
        "its fp32 products over 64 partitions took 1.71 us each in a probe, twice the formula",
    ),
    *(
        Published(
            f"Mamba {version}, {time} steps",
            MAMBA,
            "trn1",
            us,
            _mamba(time, length),
            _SPILLS if version == "v2" and time > 512 else _OPERANDS,
        )
        for version, time, length, us in (
            ("v2", 512, 512, 1600),
            ("v2", 1024, 1024, 4400),
            ("v3", 1024, 512, 3300),
            ("v2", 2048, 2048, 8900),
            ("v3", 2048, 512, 6600),
            ("v2", 4096, 4096, 17600),
            ("v3", 4096, 512, 13300),
        )
    ),
)
