"""Layer normalization of rows: mean and variance by two sums, then scale and shift by column."""

import nki
import nki.isa as nisa
import nki.language as nl

ROWS = 128
EPSILON = 1e-5


def column():
    """A number for each row."""
    return nl.ndarray((ROWS, 1), dtype=nl.float32, buffer=nl.sbuf)


def mean_of(dst, data):
    """The mean of each row."""
    nisa.tensor_reduce(dst=dst, op=nl.add, data=data, axis=1)
    nisa.tensor_scalar(dst=dst, data=dst, op0=nl.multiply, operand0=1.0 / data.shape[1])


@nki.jit
def layernorm(x, gamma, beta, tiles):
    """Return (x - mean) / sqrt(variance + epsilon) * gamma + beta, row by row."""
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    width = x.shape[1]
    scale = nl.broadcast_to(nl.load(gamma), (ROWS, width))
    shift = nl.broadcast_to(nl.load(beta), (ROWS, width))
    for i in nl.affine_range(x.shape[0] // (ROWS * tiles)):
        for rows in [nl.ds((i * tiles + tile) * ROWS, ROWS) for tile in range(tiles)]:
            data = nl.load(x[rows, :])
            mean, variance, squared_mean = column(), column(), column()
            mean_of(mean, data)
            squares = nl.ndarray((ROWS, width), dtype=nl.float32, buffer=nl.sbuf)
            nisa.activation(dst=squares, op=nl.square, data=data)
            mean_of(variance, squares)
            nisa.tensor_tensor(dst=squared_mean, data1=mean, data2=mean, op=nl.multiply)
            nisa.tensor_tensor(dst=variance, data1=variance, data2=squared_mean, op=nl.subtract)
            nisa.tensor_scalar(dst=variance, data=variance, op0=nl.add, operand0=EPSILON)
            nisa.activation(dst=variance, op=nl.rsqrt, data=variance)
            normal = nl.ndarray((ROWS, width), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_scalar(dst=normal, data=data, op0=nl.subtract, operand0=mean)
            nisa.tensor_scalar(dst=normal, data=normal, op0=nl.multiply, operand0=variance)
            nisa.tensor_tensor(dst=normal, data1=normal, data2=scale, op=nl.multiply)
            nisa.tensor_tensor(dst=normal, data1=normal, data2=shift, op=nl.add)
            nl.store(y[rows, :], value=normal)
    return y
