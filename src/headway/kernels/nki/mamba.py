"""Selective scan: the state of each channel decays and grows along the sequence."""

import nki
import nki.isa as nisa
import nki.language as nl

CHANNELS = 128


def sbuf(*shape):
    """A tile of numbers."""
    return nl.ndarray(shape, dtype=nl.float32, buffer=nl.sbuf)


def spread(row):
    """The same row on every partition."""
    return nl.broadcast_to(nl.load(row), (CHANNELS, row.shape[1]))


def scan(part, state, a, delta, moved, b, c, total):
    """Go on with a part of the sequence from `state`; add to `total` and leave the new state."""
    length = part.stop - part.start
    decay, gain, states = sbuf(CHANNELS, length), sbuf(CHANNELS, length), sbuf(CHANNELS, length)
    nisa.activation(dst=decay, op=nl.exp, data=delta[:, part], scale=a)
    nisa.tensor_tensor(dst=gain, data1=moved[:, part], data2=spread(b[:, part]), op=nl.multiply)
    nisa.tensor_tensor_scan(
        dst=states, data0=decay, data1=gain, initial=state, op0=nl.multiply, op1=nl.add
    )
    nisa.tensor_copy(dst=state, src=states[:, length - 1 : length])
    nisa.tensor_tensor(dst=gain, data1=states, data2=spread(c[:, part]), op=nl.multiply)
    nisa.tensor_tensor(dst=total[:, part], data1=total[:, part], data2=gain, op=nl.add)


@nki.jit
def mamba(delta, u, a, b, c, length, tiles):
    """Return y[channel, time]; `length` is that of a part of the sequence."""
    channels, time = delta.shape
    y = nl.ndarray((channels, time), dtype=delta.dtype, buffer=nl.shared_hbm)
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
                    scan(here, state, rate, deltas, moved, b[row, :], c[row, :], total)
            nl.store(y[some, :], value=total)
    return y
