"""Selective scan with one state per channel: it decays and grows along the sequence."""

import nki
import nki.isa as nisa
import nki.language as nl

CHANNELS, LENGTH = 128, 512


def sbuf(columns):
    """A number for each channel and time."""
    return nl.ndarray((CHANNELS, columns), dtype=nl.float32, buffer=nl.sbuf)


def everywhere(row, first):
    """Load a part of a row to all partitions."""
    tile = sbuf(LENGTH)
    nisa.dma_copy(dst=tile, src=row.ap(pattern=[[0, CHANNELS], [1, LENGTH]], offset=first))
    return tile


def times(dst, one, other):
    """Multiply on the engine that has the least to do."""
    nisa.tensor_tensor(dst=dst, data1=one, data2=other, op=nl.multiply, engine=nisa.engine.gpsimd)


@nki.jit
def selective_scan(delta, u, a, b, c, tiles):
    """Return y[channel, time]; `b` and `c` are [1, time]."""
    channels, time = delta.shape
    y = nl.ndarray((channels, time), dtype=delta.dtype, buffer=nl.shared_hbm)
    for g in nl.affine_range(channels // CHANNELS):
        some, state = nl.ds(g * CHANNELS, CHANNELS), sbuf(1)
        rate = nl.load(a[some, :])
        nisa.memset(dst=state, value=0.0)
        for i in nl.sequential_range(time // (LENGTH * tiles)):
            for first in [(i * tiles + tile) * LENGTH for tile in range(tiles)]:
                part = nl.ds(first, LENGTH)
                step = nl.load(delta[some, part])
                moved = nl.load(u[some, part])
                to, out = everywhere(b, first), everywhere(c, first)
                decay, gain, states = sbuf(LENGTH), sbuf(LENGTH), sbuf(LENGTH)
                nisa.activation(dst=decay, op=nl.exp, data=step, scale=rate)
                times(gain, step, moved)
                times(gain, gain, to)
                nisa.tensor_tensor_scan(
                    dst=states, data0=decay, data1=gain, initial=state, op0=nl.multiply, op1=nl.add
                )
                nisa.tensor_copy(dst=state, src=states[:, LENGTH - 1 : LENGTH])
                nisa.tensor_tensor(dst=out, data1=states, data2=out, op=nl.multiply)
                nl.store(y[some, part], value=out)
    return y
