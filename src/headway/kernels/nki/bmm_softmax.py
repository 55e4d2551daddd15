"""Softmax of the rows of a batch of products A B, each row of 4,096 in chunks of 512."""

import nki
import nki.isa as nisa
import nki.language as nl

ROWS, CHUNK = 128, 512


def sbuf(rows, columns):
    """A tile of numbers."""
    return nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)


def turned(tile, identity):
    """Put the columns of a tile on the partitions."""
    depth = tile.shape[1]
    sums, out = nl.ndarray((depth, ROWS), dtype=nl.float32, buffer=nl.psum), sbuf(depth, ROWS)
    nisa.nc_matmul(dst=sums, stationary=tile, moving=identity)
    nisa.tensor_copy(dst=out, src=sums)
    return out


def softmax(scores, tops):
    """Divide what each row's chunks become under exp by their sum."""
    top, total = sbuf(ROWS, 1), sbuf(ROWS, 1)
    nisa.tensor_reduce(dst=top, op=nl.maximum, data=tops, axis=1, negate=True)
    sums = sbuf(ROWS, tops.shape[1])
    for chunk in range(tops.shape[1]):
        here = scores[:, nl.ds(chunk * CHUNK, CHUNK)]
        nisa.activation(dst=here, op=nl.exp, data=here, bias=top)
        nisa.tensor_reduce(dst=sums[:, nl.ds(chunk, 1)], op=nl.add, data=here, axis=1)
    nisa.tensor_reduce(dst=total, op=nl.add, data=sums, axis=1)
    nisa.reciprocal(dst=total, data=total)
    for chunk in range(tops.shape[1]):
        here = scores[:, nl.ds(chunk * CHUNK, CHUNK)]
        nisa.tensor_scalar(dst=here, data=here, op0=nl.multiply, operand0=total)


@nki.jit
def bmm_softmax(a, b, identity):
    """Return softmax(a[batch] b[batch]) by rows."""
    batches, rows, depth = a.shape
    columns = b.shape[2]
    y = nl.ndarray((batches, rows, columns), dtype=a.dtype, buffer=nl.shared_hbm)
    unit = nl.load(identity)
    for batch in nl.affine_range(batches):
        right = sbuf(depth, columns)
        nisa.dma_copy(dst=right, src=b[batch])
        for i in nl.affine_range(rows // ROWS):
            left = sbuf(ROWS, depth)
            nisa.dma_copy(dst=left, src=a[batch, nl.ds(i * ROWS, ROWS), :])
            across, scores, tops = turned(left, unit), sbuf(ROWS, columns), sbuf(ROWS, 8)
            for chunk in range(columns // CHUNK):
                sums = nl.ndarray((ROWS, CHUNK), dtype=nl.float32, buffer=nl.psum)
                some = nl.ds(chunk * CHUNK, CHUNK)
                nisa.nc_matmul(dst=sums, stationary=across, moving=right[:, some])
                nisa.tensor_copy(dst=scores[:, some], src=sums)
                nisa.tensor_reduce(
                    dst=tops[:, nl.ds(chunk, 1)], op=nl.maximum, data=scores[:, some], axis=1
                )
            softmax(scores, tops)
            nisa.dma_copy(dst=y[batch, nl.ds(i * ROWS, ROWS), :], src=scores)
    return y
