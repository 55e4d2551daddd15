"""Softmax of rows: greatest element, exponentials and their sum, division."""

import nki
import nki.isa as nisa
import nki.language as nl

ROWS = 128


@nki.jit
def softmax(x, tiles):
    """Return exp(x - max) / sum, row by row."""
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(x.shape[0] // (ROWS * tiles)):
        for rows in [nl.ds((i * tiles + tile) * ROWS, ROWS) for tile in range(tiles)]:
            data = nl.load(x[rows, :])
            top = nl.ndarray((ROWS, 1), dtype=nl.float32, buffer=nl.sbuf)
            total = nl.ndarray((ROWS, 1), dtype=nl.float32, buffer=nl.sbuf)
            e = nl.ndarray(data.shape, dtype=nl.float32, buffer=nl.sbuf)
            out = nl.ndarray(data.shape, dtype=x.dtype, buffer=nl.sbuf)
            nisa.tensor_reduce(dst=top, op=nl.maximum, data=data, axis=1, negate=True)
            nisa.activation_reduce(
                dst=e, op=nl.exp, data=data, bias=top, reduce_op=nl.add, reduce_res=total
            )
            nisa.reciprocal(dst=total, data=total)
            nisa.tensor_scalar(dst=out, data=e, op0=nl.multiply, operand0=total)
            nl.store(y[rows, :], value=out)
    return y
