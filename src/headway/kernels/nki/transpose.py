"""Transposition: blocks of 128 by 128 on the tensor engine, four to a tile."""

import nki
import nki.isa as nisa
import nki.language as nl

BLOCK, BLOCKS = 128, 4


@nki.jit
def transpose(x, identity, tiles):
    """Return x.T."""
    y = nl.ndarray((x.shape[1], x.shape[0]), dtype=x.dtype, buffer=nl.shared_hbm)
    unit = nl.load(identity)
    width = BLOCK * BLOCKS
    for i in nl.affine_range(x.shape[0] // (width * tiles)):
        for first in [(i * tiles + tile) * width for tile in range(tiles)]:
            turned = nl.ndarray((BLOCK, width), dtype=nl.float32, buffer=nl.psum)
            for b in nl.affine_range(BLOCKS):
                data = nl.load(x[nl.ds(first + b * BLOCK, BLOCK), :])
                there = turned[:, nl.ds(b * BLOCK, BLOCK)]
                nisa.nc_matmul(dst=there, stationary=data, moving=unit)
            out = nl.ndarray((BLOCK, width), dtype=x.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=out, src=turned)
            nl.store(y[:, nl.ds(first, width)], value=out)
    return y
