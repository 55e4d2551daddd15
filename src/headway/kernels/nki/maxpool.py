"""Max pooling, 3 by 3, stride 1: three shifted strips of rows, the greatest of nine elements."""

import nki
import nki.isa as nisa
import nki.language as nl

ROWS = 128
WINDOW = 3


def windows(strips, width):
    """All windows of the strips, the elements of a window last."""
    wide = strips.shape[-1]
    rows = WINDOW * wide
    return strips.ap(pattern=[[rows, ROWS], [1, width], [wide, WINDOW], [1, WINDOW]])


@nki.jit
def maxpool(image, tiles):
    """Return the greatest of each window; the image has a multiple of 128 rows, and two more."""
    height, width = image.shape[0] - WINDOW + 1, image.shape[1] - WINDOW + 1
    y = nl.ndarray((height, width), dtype=image.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(height // (ROWS * tiles)):
        for first in [(i * tiles + tile) * ROWS for tile in range(tiles)]:
            shape = (ROWS, WINDOW, image.shape[1])
            strips = nl.ndarray(shape, dtype=image.dtype, buffer=nl.sbuf)
            for strip in (0, 1, 2):
                rows = image[nl.ds(first + strip, ROWS), :]
                nisa.dma_copy(dst=strips[:, strip, :], src=rows)
            out = nl.ndarray((ROWS, width), dtype=image.dtype, buffer=nl.sbuf)
            nisa.tensor_reduce(dst=out, op=nl.maximum, data=windows(strips, width), axis=(2, 3))
            nl.store(y[nl.ds(first, ROWS), :], value=out)
    return y
