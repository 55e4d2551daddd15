"""Normalization and quantization of wide rows, whose chunks stay on chip between two passes."""

import nki
import nki.isa as nisa
import nki.language as nl

ROWS, CHUNK = 128, 1024
EPSILON = 1e-5
STEPS = 32.0
"""Steps of the result in a root mean square."""


def inverse(squares, width):
    """1 / the root of the mean of squares, from their sums over chunks, in steps."""
    result = nl.ndarray((ROWS, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=result, op=nl.add, data=squares, axis=1)
    nisa.tensor_scalar(
        dst=result,
        data=result,
        op0=nl.multiply,
        operand0=1.0 / (width * STEPS**2),
        op1=nl.add,
        operand1=EPSILON / STEPS**2,
    )
    nisa.activation(dst=result, op=nl.rsqrt, data=result)
    return result


@nki.jit
def rmsnorm_quant(x, tiles):
    """Return round(32 x / sqrt(mean(x^2) + epsilon)), row by row."""
    y = nl.ndarray(x.shape, dtype=nl.int8, buffer=nl.shared_hbm)
    chunks = x.shape[1] // CHUNK
    for i in nl.affine_range(x.shape[0] // (ROWS * tiles)):
        for rows in [nl.ds((i * tiles + tile) * ROWS, ROWS) for tile in range(tiles)]:
            data = nl.ndarray((ROWS, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
            squares = nl.ndarray((ROWS, chunks), dtype=nl.float32, buffer=nl.sbuf)
            for c in nl.affine_range(chunks):
                some = nl.ds(c * CHUNK, CHUNK)
                square = nl.ndarray((ROWS, CHUNK), dtype=nl.float32, buffer=nl.sbuf)
                nisa.dma_copy(dst=data[:, some], src=x[rows, some])
                nisa.activation_reduce(
                    dst=square,
                    op=nl.square,
                    data=data[:, some],
                    reduce_op=nl.add,
                    reduce_res=squares[:, nl.ds(c, 1)],
                )
            scale = inverse(squares, x.shape[1])
            for c in nl.affine_range(chunks):
                some = nl.ds(c * CHUNK, CHUNK)
                out = nl.ndarray((ROWS, CHUNK), dtype=nl.int8, buffer=nl.sbuf)
                nisa.tensor_scalar(dst=out, data=data[:, some], op0=nl.multiply, operand0=scale)
                nl.store(y[rows, some], value=out)
    return y
