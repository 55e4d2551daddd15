"""Selective scan: the state of each channel decays and grows along the sequence."""

import nki
import nki.isa as nisa
import nki.language as nl

CHANNELS, BANK = 128, 512


def sbuf(*shape):
    """A tile of numbers."""
    return nl.ndarray(shape, dtype=nl.float32, buffer=nl.sbuf)


def times_row(dst, data, row, ones):
    """Multiply by a row that the tensor engine spreads over all partitions, bank by bank."""
    one = nl.load(row)
    width = min(BANK, row.shape[1])
    for first in range(0, row.shape[1], width):
        some = slice(first, first + width)
        spread = nl.ndarray((CHANNELS, width), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=spread, stationary=ones, moving=one[:, some])
        nisa.tensor_tensor(dst=dst[:, some], data1=data[:, some], data2=spread, op=nl.multiply)


def scan(part, state, a, delta, moved, b, c, total, ones):
    """Go on with a part of the sequence from `state`; add to `total` and leave the new state."""
    length = part.stop - part.start
    decay, gain, states = sbuf(CHANNELS, length), sbuf(CHANNELS, length), sbuf(CHANNELS, length)
    nisa.activation(dst=decay, op=nl.exp, data=delta[:, part], scale=a)
    times_row(gain, moved[:, part], b[:, part], ones)
    nisa.tensor_tensor_scan(
        dst=states, data0=decay, data1=gain, initial=state, op0=nl.multiply, op1=nl.add
    )
    nisa.tensor_copy(dst=state, src=states[:, length - 1 : length])
    times_row(gain, states, c[:, part], ones)
    nisa.tensor_tensor(dst=total[:, part], data1=total[:, part], data2=gain, op=nl.add)


@nki.jit
def mamba(delta, u, a, b, c, length, tiles):
    """Return y[channel, time]; `length` is that of a part of the sequence."""
    channels, time = delta.shape
    y = nl.ndarray((channels, time), dtype=delta.dtype, buffer=nl.shared_hbm)
    ones = sbuf(1, CHANNELS)
    nisa.memset(dst=ones, value=1.0)
    for i in nl.affine_range(channels // (CHANNELS * tiles)):
        for some in [nl.ds((i * tiles + tile) * CHANNELS, CHANNELS) for tile in range(tiles)]:
            deltas, moved, total = (
                nl.load(delta[some, :]),
                nl.load(u[some, :]),
                sbuf(CHANNELS, time),
            )
            nisa.tensor_tensor(dst=moved, data1=moved, data2=deltas, op=nl.multiply)
            nisa.memset(dst=total, value=0.0)
            for n in nl.affine_range(a.shape[1]):
                rate, state = nl.load(a[some, nl.ds(n, 1)]), sbuf(CHANNELS, 1)
                nisa.memset(dst=state, value=0.0)
                for part in nl.sequential_range(time // length):
                    here, row = slice(part * length, part * length + length), nl.ds(n, 1)
                    scan(here, state, rate, deltas, moved, b[row, :], c[row, :], total, ones)
            nl.store(y[some, :], value=total)
    return y
