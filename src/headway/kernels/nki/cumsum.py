"""Cumulative sum along rows: what a tile ends with starts the scan of the next."""

import nki
import nki.isa as nisa
import nki.language as nl

ROWS, COLUMNS = 128, 512


@nki.jit
def cumsum(x, tiles):
    """Return the sums of all elements of a row up to each of them."""
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ones = nl.ndarray((ROWS, COLUMNS), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=ones, value=1.0)
    for r in nl.affine_range(x.shape[0] // ROWS):
        rows = nl.ds(r * ROWS, ROWS)
        carried = nl.ndarray((ROWS, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=carried, value=0.0)
        for i in nl.sequential_range(x.shape[1] // (COLUMNS * tiles)):
            for some in [nl.ds((i * tiles + tile) * COLUMNS, COLUMNS) for tile in range(tiles)]:
                data = nl.load(x[rows, some])
                sums = nl.ndarray((ROWS, COLUMNS), dtype=nl.float32, buffer=nl.sbuf)
                nisa.tensor_tensor_scan(
                    dst=sums, data0=ones, data1=data, initial=carried, op0=nl.multiply, op1=nl.add
                )
                nisa.activation(dst=carried, op=nl.copy, data=sums[:, COLUMNS - 1 : COLUMNS])
                nl.store(y[rows, some], value=sums)
    return y
