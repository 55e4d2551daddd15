"""Root mean square normalization of rows."""

import nki
import nki.isa as nisa
import nki.language as nl

ROWS = 128
EPSILON = 1e-5


@nki.jit
def rmsnorm(x, gamma, tiles):
    """Return x / sqrt(mean(x^2) + epsilon) * gamma, row by row."""
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    width = x.shape[1]
    scale = nl.broadcast_to(nl.load(gamma), (ROWS, width))
    for i in nl.affine_range(x.shape[0] // (ROWS * tiles)):
        for rows in [nl.ds((i * tiles + tile) * ROWS, ROWS) for tile in range(tiles)]:
            data = nl.load(x[rows, :])
            squares = nl.ndarray(data.shape, dtype=nl.float32, buffer=nl.sbuf)
            mean = nl.ndarray((ROWS, 1), dtype=nl.float32, buffer=nl.sbuf)
            out = nl.ndarray(data.shape, dtype=x.dtype, buffer=nl.sbuf)
            nisa.activation_reduce(
                dst=squares, op=nl.square, data=data, reduce_op=nl.add, reduce_res=mean
            )
            nisa.tensor_scalar(
                dst=mean,
                data=mean,
                op0=nl.multiply,
                operand0=1.0 / width,
                op1=nl.add,
                operand1=EPSILON,
            )
            nisa.activation(dst=mean, op=nl.rsqrt, data=mean)
            nisa.tensor_scalar(dst=out, data=data, op0=nl.multiply, operand0=mean)
            nisa.tensor_tensor(dst=out, data1=out, data2=scale, op=nl.multiply)
            nl.store(y[rows, :], value=out)
    return y
