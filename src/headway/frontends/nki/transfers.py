"""The instructions of `nki.isa` that move data by DMA, to other cores too, and those of state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headway.frontends.nki import elementwise as ew
from headway.frontends.nki.calls import Call, without_values
from headway.frontends.nki.means import Means
from headway.frontends.nki.places import problem
from headway.frontends.nki.record import recorder
from headway.frontends.nki.registers import Register
from headway.frontends.nki.tensor import Tensor, sequence
from headway.ir.program import Work


def moved(
    operation: str,
    reads: Sequence[Tensor],
    writes: Sequence[Tensor],
    engine: str = "",
    call: Call | None = None,
) -> None:
    """Record a transfer from several tensors to others; `call` says what it computes."""
    size = sum(t.size * t.itemsize for t in writes)
    sides = ({t.buffer.is_on_chip for t in reads}, {t.buffer.is_on_chip for t in writes})
    moves = {(False, True): "load", (True, False): "store"}
    direction = moves.get((min(sides[0]), min(sides[1])), "copy")
    widest = max((ew.free_size(t.shape) for t in writes), default=1)
    work = Work(operation, widest, size, writes[0].dtype.name, direction)
    ew.recorded(operation, reads, writes, work, engine, call=call)


def dma_compute(dst: Tensor, srcs: Sequence[Tensor], *settings: Any, **options: Any) -> Tensor:
    """Record a transfer that adds up several tensors on the way."""
    given = [*settings, options.get("scales"), options.get("reduce_op")]
    scales = next((part for part in given if type(part) in (list, tuple)), None)
    functions = [str(part) for part in given if part is not None and part is not scales]
    sizes = {tensor.size for tensor in (dst, *srcs)}
    if len(sizes) > 1:
        shapes = ", ".join(str(tensor.shape) for tensor in srcs)
        raise problem(
            f"dma_compute of shapes {shapes} to shape {dst.shape}",
            rule="all have the same number of elements",
        )
    roles = " ".join(f"src{number}" for number in range(len(srcs)))
    is_sum = all(name in ("add", "True", "False") for name in functions)
    call = Call("dma_compute", roles, {"scales": scales}) if is_sum else None
    moved("dma_compute", tuple(srcs), (dst,), call=call)
    return dst


def sendrecv(src: Any, dst: Any, *settings: Any, **options: Any) -> Any:
    """Record the exchange of tiles with another core: `src` leaves, `dst` arrives."""
    del settings, options
    away = without_values("what arrives comes from another core")
    moved("dma", sequence(src), sequence(dst), call=away)
    return dst


def core_barrier(data: Any, *settings: Any, engine: Any = None, **options: Any) -> None:
    """Record a meeting with other cores: what was done to `data` is done before, the rest after."""
    del settings, options
    tensors: tuple[Tensor, ...] = sequence(data)
    name = str(getattr(engine, "name", engine) or "gpsimd").rsplit(".", 1)[-1]
    work = Work("elementwise", 1, 0, tensors[0].dtype.name)
    sources, targets = (
        " ".join(f"{role}{n}" for n in range(len(tensors))) for role in ("src", "dst")
    )
    call = Call("core_barrier", sources, writes=targets)
    ew.recorded("core_barrier", tensors, tensors, work, name, call=call)


def set_rng_seed(src_seeds: Tensor, **options: Any) -> None:
    """Record that the random numbers of the vector engine follow from one number."""
    del options
    _set_random_state("random_seed", src_seeds, "vector")


def rand_set_state(src_seeds: Tensor, engine: Any = None, **options: Any) -> None:
    """Record that an engine takes the state of its random numbers from a tile."""
    del options
    name = str(getattr(engine, "name", engine) or "gpsimd").rsplit(".", 1)[-1]
    _set_random_state("random_state_from", src_seeds, name)


def _set_random_state(operation: str, seeds: Tensor, engine: str) -> None:
    call = Call(operation, "src_seeds", writes="")
    ew.emit("rng", [ew.on_chip(seeds)], [], engine=engine, sizes=[seeds], call=call)


def register_store(dst: Tensor, src: Register) -> Tensor:
    """Record that a register is written to memory."""
    work = Work("dma", 1, dst.itemsize, dst.dtype.name, "copy")
    means = Means(settings=(("reason", "what is stored is in a register, which is not followed"),))
    reads = [*src.reads, *dst.also]
    recorder().add("register_store", reads, [dst.operand()], work, means=means)
    return dst
