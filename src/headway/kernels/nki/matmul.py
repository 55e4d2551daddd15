"""Matrix multiplication C = A^T B: tile by tile, in blocks, in blocks that are loaded by rows."""

import nki
import nki.isa as nisa
import nki.language as nl

DEPTH, ROWS, COLUMNS = 128, 128, 512
"""What one instruction multiplies: [128, 128] stationary by [128, 512] moving."""


def product(a_tiles, b_tiles):
    """Sum up the products of pairs of tiles in PSUM."""
    total = nl.ndarray((ROWS, COLUMNS), dtype=nl.float32, buffer=nl.psum)
    for step in nl.affine_range(len(a_tiles)):
        nisa.nc_matmul(dst=total, stationary=a_tiles[step], moving=b_tiles[step])
    return total


def stored(c, row, column, total):
    """Take a block of sums out of PSUM and store it."""
    out = nl.ndarray((ROWS, COLUMNS), dtype=c.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=out, src=total)
    nl.store(c[nl.ds(row, ROWS), nl.ds(column, COLUMNS)], value=out)


def steps(a):
    """The slices of the contracted dimension."""
    return [nl.ds(step * DEPTH, DEPTH) for step in range(a.shape[0] // DEPTH)]


@nki.jit
def matmul(a, b, tiles):
    """Load both tiles for each product; `tiles` products are an iteration of the innermost loop."""
    c = nl.ndarray((a.shape[1], b.shape[1]), dtype=a.dtype, buffer=nl.shared_hbm)
    for row in nl.affine_range(a.shape[1] // ROWS):
        for column in nl.affine_range(b.shape[1] // COLUMNS):
            total = nl.ndarray((ROWS, COLUMNS), dtype=nl.float32, buffer=nl.psum)
            for step in nl.affine_range(a.shape[0] // (DEPTH * tiles)):
                for some in [nl.ds((step * tiles + t) * DEPTH, DEPTH) for t in range(tiles)]:
                    left = nl.load(a[some, nl.ds(row * ROWS, ROWS)])
                    right = nl.load(b[some, nl.ds(column * COLUMNS, COLUMNS)])
                    nisa.nc_matmul(dst=total, stationary=left, moving=right)
            stored(c, row * ROWS, column * COLUMNS, total)
    return c


@nki.jit
def blocked(a, b, block_rows, block_columns):
    """Keep a block of A and a block of B, loaded tile by tile, for all products that need them."""
    c = nl.ndarray((a.shape[1], b.shape[1]), dtype=a.dtype, buffer=nl.shared_hbm)
    for m in nl.affine_range(a.shape[1] // (ROWS * block_rows)):
        above = [
            [nl.load(a[step, nl.ds((m * block_rows + r) * ROWS, ROWS)]) for step in steps(a)]
            for r in range(block_rows)
        ]
        for n in nl.affine_range(b.shape[1] // (COLUMNS * block_columns)):
            beside = [
                [nl.load(b[s, nl.ds((n * block_columns + j) * COLUMNS, COLUMNS)]) for s in steps(a)]
                for j in range(block_columns)
            ]
            for r in nl.affine_range(block_rows):
                for j in nl.affine_range(block_columns):
                    total = product(above[r], beside[j])
                    stored(c, (m * block_rows + r) * ROWS, (n * block_columns + j) * COLUMNS, total)
    return c


@nki.jit
def blocked_by_rows(a, b, block_rows, block_columns):
    """The same with rows as wide as the blocks: fewer transfers, and longer ones."""
    c = nl.ndarray((a.shape[1], b.shape[1]), dtype=a.dtype, buffer=nl.shared_hbm)
    height, width = block_rows * ROWS, block_columns * COLUMNS
    for m in nl.affine_range(a.shape[1] // height):
        above = [nl.load(a[step, nl.ds(m * height, height)]) for step in steps(a)]
        for n in nl.affine_range(b.shape[1] // width):
            beside = [nl.load(b[step, nl.ds(n * width, width)]) for step in steps(a)]
            for r in nl.affine_range(block_rows):
                for j in nl.affine_range(block_columns):
                    total = product(
                        [row[:, nl.ds(r * ROWS, ROWS)] for row in above],
                        [row[:, nl.ds(j * COLUMNS, COLUMNS)] for row in beside],
                    )
                    stored(c, m * height + r * ROWS, n * width + j * COLUMNS, total)
    return c
