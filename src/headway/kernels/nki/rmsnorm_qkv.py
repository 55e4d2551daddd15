"""Normalized rows times the weights of queries, keys and values."""

import nki
import nki.isa as nisa
import nki.language as nl

BLOCK, PART = 128, 512
EPSILON = 1e-5


def sbuf(columns, dtype=nl.float32):
    """A tile of numbers."""
    return nl.ndarray((BLOCK, columns), dtype=dtype, buffer=nl.sbuf)


def psum(columns, dtype=nl.float32):
    """A tile of what the tensor engine gives."""
    return nl.ndarray((BLOCK, columns), dtype=dtype, buffer=nl.psum)


def normalized(data):
    """The rows over the root of the mean of their squares."""
    width = data.shape[1]
    squares, scale, result = sbuf(width), sbuf(1), sbuf(width, data.dtype)
    nisa.activation_reduce(dst=squares, op=nl.square, data=data, reduce_op=nl.add, reduce_res=scale)
    nisa.tensor_scalar(
        dst=scale, data=scale, op0=nl.multiply, operand0=1 / width, op1=nl.add, operand1=EPSILON
    )
    nisa.activation(dst=scale, op=nl.rsqrt, data=scale)
    nisa.tensor_scalar(dst=result, data=data, op0=nl.multiply, operand0=scale)
    return result


@nki.jit
def rmsnorm_qkv(x, weights, tiles):
    """Return (x / sqrt(mean(x^2) + epsilon)) weights."""
    tokens, width = x.shape
    y = nl.ndarray((tokens, weights.shape[1]), dtype=x.dtype, buffer=nl.shared_hbm)
    blocks = width // BLOCK
    loaded = [nl.load(weights[nl.ds(k * BLOCK, BLOCK), :]) for k in range(blocks)]
    for i in nl.affine_range(tokens // (BLOCK * tiles)):
        for rows in [nl.ds((i * tiles + tile) * BLOCK, BLOCK) for tile in range(tiles)]:
            normal, across = normalized(nl.load(x[rows, :])), sbuf(width, x.dtype)
            for k in nl.affine_range(blocks):
                some, turned = nl.ds(k * BLOCK, BLOCK), psum(BLOCK, x.dtype)
                nisa.nc_transpose(dst=turned, data=normal[:, some])
                nisa.tensor_copy(dst=across[:, some], src=turned)
            for part in nl.affine_range(weights.shape[1] // PART):
                some, sums, out = nl.ds(part * PART, PART), psum(PART), sbuf(PART, x.dtype)
                for k in nl.affine_range(blocks):
                    here = across[:, nl.ds(k * BLOCK, BLOCK)]
                    nisa.nc_matmul(dst=sums, stationary=here, moving=loaded[k][:, some])
                nisa.activation(dst=out, op=nl.copy, data=sums)
                nl.store(y[rows, some], value=out)
    return y
