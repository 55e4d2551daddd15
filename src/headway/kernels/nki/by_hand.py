"""The same work with every tile where an expert would put it: double buffers at fixed addresses.

Loads, results and what lies between have two places each and take turns, as deep as a loop of
load, compute and store needs; what is the same for all rows has one.
"""

import nki
import nki.isa as nisa
import nki.language as nl

ROWS = 128
EPSILON = 1e-5
BLOCK, BLOCKS = 128, 4


class Places:
    """Hands out addresses one after the other, two for each tile that takes turns."""

    def __init__(self, depth=2):
        self.depth = depth
        self.free = 0
        self.known = {}

    def tile(self, name, columns, turn=0, depth=None):
        """The tile of that name for a turn."""
        slots = depth or self.depth
        if name not in self.known:
            self.known[name] = self.free
            self.free += slots * columns * 4
        address = (0, self.known[name] + turn % slots * columns * 4)
        return nl.ndarray((ROWS, columns), dtype=nl.float32, buffer=nl.sbuf, address=address)

    def loaded(self, name, source, turn=0, depth=None):
        """A tile with what is in HBM; one row is spread over all partitions."""
        tile = self.tile(name, source.shape[1], turn, depth)
        nisa.dma_copy(dst=tile, src=source)
        return tile

    def everywhere(self, name, row):
        """One row on every partition."""
        one = self.tile(f"{name} row", row.shape[1], depth=1)
        nisa.dma_copy(dst=one[0:1, :], src=row)
        spread = self.tile(name, row.shape[1], depth=1)
        nisa.tensor_copy(dst=spread, src=nl.broadcast_to(one[0:1, :], spread.shape))
        return spread


def result_like(x):
    """What a kernel returns."""
    return nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)


@nki.jit
def calibration_loop(x):
    """Return 2 tanh(x)."""
    y, places = result_like(x), Places()
    for i in nl.affine_range(x.shape[0] // ROWS):
        data = places.loaded("data", x[nl.ds(i * ROWS, ROWS), :], i)
        act, out = (places.tile(name, x.shape[1], i) for name in ("act", "out"))
        nisa.activation(dst=act, op=nl.tanh, data=data)
        nisa.tensor_scalar(dst=out, data=act, op0=nl.multiply, operand0=2.0)
        nl.store(y[nl.ds(i * ROWS, ROWS), :], value=out)
    return y


@nki.jit
def softmax(x):
    """Return exp(x - max) / sum, row by row."""
    y, places = result_like(x), Places()
    for i in nl.affine_range(x.shape[0] // ROWS):
        data = places.loaded("data", x[nl.ds(i * ROWS, ROWS), :], i)
        top, total = places.tile("top", 1, i), places.tile("total", 1, i)
        e, out = places.tile("e", x.shape[1], i), places.tile("out", x.shape[1], i)
        nisa.tensor_reduce(dst=top, op=nl.maximum, data=data, axis=1, negate=True)
        nisa.activation_reduce(
            dst=e, op=nl.exp, data=data, bias=top, reduce_op=nl.add, reduce_res=total
        )
        nisa.reciprocal(dst=total, data=total)
        nisa.tensor_scalar(dst=out, data=e, op0=nl.multiply, operand0=total)
        nl.store(y[nl.ds(i * ROWS, ROWS), :], value=out)
    return y


@nki.jit
def rmsnorm(x, gamma):
    """Return x / sqrt(mean(x^2) + epsilon) * gamma, row by row."""
    y, places = result_like(x), Places()
    scale = places.everywhere("gamma", gamma)
    for i in nl.affine_range(x.shape[0] // ROWS):
        data = places.loaded("data", x[nl.ds(i * ROWS, ROWS), :], i)
        squares, out = (places.tile(name, x.shape[1], i) for name in ("squares", "out"))
        mean = places.tile("mean", 1, i)
        nisa.activation_reduce(
            dst=squares, op=nl.square, data=data, reduce_op=nl.add, reduce_res=mean
        )
        nisa.tensor_scalar(
            dst=mean,
            data=mean,
            op0=nl.multiply,
            operand0=1.0 / x.shape[1],
            op1=nl.add,
            operand1=EPSILON,
        )
        nisa.activation(dst=mean, op=nl.rsqrt, data=mean)
        nisa.tensor_scalar(dst=out, data=data, op0=nl.multiply, operand0=mean)
        nisa.tensor_tensor(dst=out, data1=out, data2=scale, op=nl.multiply)
        nl.store(y[nl.ds(i * ROWS, ROWS), :], value=out)
    return y


@nki.jit
def maxpool(image):
    """Return the greatest of each 3 by 3 window."""
    height, width = image.shape[0] - 2, image.shape[1] - 2
    y = nl.ndarray((height, width), dtype=image.dtype, buffer=nl.shared_hbm)
    places, wide = Places(), image.shape[1]
    for i in nl.affine_range(height // ROWS):
        strips = places.tile("strips", 3 * wide, i)
        for strip in (0, 1, 2):
            rows = image[nl.ds(i * ROWS + strip, ROWS), :]
            nisa.dma_copy(dst=strips[:, nl.ds(strip * wide, wide)], src=rows)
        out = places.tile("out", width, i)
        windows = strips.ap(pattern=[[3 * wide, ROWS], [1, width], [wide, 3], [1, 3]])
        nisa.tensor_reduce(dst=out, op=nl.maximum, data=windows, axis=(2, 3))
        nl.store(y[nl.ds(i * ROWS, ROWS), :], value=out)
    return y


@nki.jit
def transpose(x, identity):
    """Return x.T."""
    y = nl.ndarray((x.shape[1], x.shape[0]), dtype=x.dtype, buffer=nl.shared_hbm)
    places, width = Places(), BLOCK * BLOCKS
    unit = places.loaded("unit", identity, depth=1)
    for i in nl.affine_range(x.shape[0] // width):
        shape, bank = (BLOCK, width), (0, i % 2 * width * 4)
        turned = nl.ndarray(shape, dtype=nl.float32, buffer=nl.psum, address=bank)
        for b in nl.affine_range(BLOCKS):
            rows = x[nl.ds(i * width + b * BLOCK, BLOCK), :]
            data = places.loaded("data", rows, i * BLOCKS + b)
            nisa.nc_matmul(dst=turned[:, nl.ds(b * BLOCK, BLOCK)], stationary=data, moving=unit)
        out = places.tile("out", width, i)
        nisa.tensor_copy(dst=out, src=turned)
        nl.store(y[:, nl.ds(i * width, width)], value=out)
    return y


@nki.jit
def matmul(a, b):
    """Return a.T @ b, with two banks of PSUM and two tiles of each operand."""
    deep, rows, columns = 128, 128, 512
    c = nl.ndarray((a.shape[1], b.shape[1]), dtype=a.dtype, buffer=nl.shared_hbm)
    places, steps, across = Places(), a.shape[0] // deep, b.shape[1] // columns
    for m in nl.affine_range(a.shape[1] // rows):
        for n in nl.affine_range(across):
            bank = (0, (m * across + n) % 2 * columns * 4)
            total = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.psum, address=bank)
            for k in nl.affine_range(steps):
                some, turn = nl.ds(k * deep, deep), (m * across + n) * steps + k
                left = places.loaded("left", a[some, nl.ds(m * rows, rows)], turn)
                right = places.loaded("right", b[some, nl.ds(n * columns, columns)], turn)
                nisa.nc_matmul(dst=total, stationary=left, moving=right)
            out = places.tile("out", columns, m * across + n)
            nisa.tensor_copy(dst=out, src=total)
            nl.store(c[nl.ds(m * rows, rows), nl.ds(n * columns, columns)], value=out)
    return c
