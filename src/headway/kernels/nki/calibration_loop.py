"""The loop whose time is published: load, activation, scale, store."""

import nki
import nki.isa as nisa
import nki.language as nl

ROWS = 128


@nki.jit
def calibration_loop(x, tiles):
    """Return 2 tanh(x)."""
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(x.shape[0] // (ROWS * tiles)):
        for rows in [nl.ds((i * tiles + tile) * ROWS, ROWS) for tile in range(tiles)]:
            data = nl.load(x[rows, :])
            act = nl.ndarray(data.shape, dtype=x.dtype, buffer=nl.sbuf)
            out = nl.ndarray(data.shape, dtype=x.dtype, buffer=nl.sbuf)
            nisa.activation(dst=act, op=nl.tanh, data=data)
            nisa.tensor_scalar(dst=out, data=act, op0=nl.multiply, operand0=2.0)
            nl.store(y[rows, :], value=out)
    return y
