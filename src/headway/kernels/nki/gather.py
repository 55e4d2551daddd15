"""Embedding lookup: rows of a table, by numbers that are loaded first."""

import nki
import nki.isa as nisa
import nki.language as nl

ROWS = 128


@nki.jit
def gather(table, ids, tiles):
    """Return the rows of the table that `ids` names, times the root of their length."""
    width = table.shape[1]
    y = nl.ndarray((ids.shape[0], width), dtype=table.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(ids.shape[0] // (ROWS * tiles)):
        for some in [nl.ds((i * tiles + tile) * ROWS, ROWS) for tile in range(tiles)]:
            wanted = nl.load(ids[some, :])
            data = nl.ndarray((ROWS, width), dtype=table.dtype, buffer=nl.sbuf)
            out = nl.ndarray((ROWS, width), dtype=table.dtype, buffer=nl.sbuf)
            rows = table.ap(pattern=[[0, ROWS], [1, width]], vector_offset=wanted, indirect_dim=0)
            nisa.dma_copy(dst=data, src=rows)
            nisa.tensor_scalar(dst=out, data=data, op0=nl.multiply, operand0=float(width) ** 0.5)
            nl.store(y[some, :], value=out)
    return y
