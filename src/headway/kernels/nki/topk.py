"""The greatest elements of rows, eight at a time: find them, take them out, find the next eight."""

import nki
import nki.isa as nisa
import nki.language as nl

ROWS, AT_ONCE = 128, 8
LEAST = -1e30


@nki.jit
def topk(logits, rounds, tiles):
    """Return the 8 * `rounds` greatest elements of each row, and their places."""
    shape = (logits.shape[0], AT_ONCE * rounds)
    values = nl.ndarray(shape, dtype=nl.float32, buffer=nl.shared_hbm)
    places = nl.ndarray(shape, dtype=nl.uint32, buffer=nl.shared_hbm)
    for i in nl.affine_range(logits.shape[0] // (ROWS * tiles)):
        for rows in [nl.ds((i * tiles + tile) * ROWS, ROWS) for tile in range(tiles)]:
            data = nl.load(logits[rows, :])
            for r in nl.sequential_range(rounds):
                top = nl.ndarray((ROWS, AT_ONCE), dtype=nl.float32, buffer=nl.sbuf)
                where = nl.ndarray((ROWS, AT_ONCE), dtype=nl.uint32, buffer=nl.sbuf)
                nisa.max8(dst=top, src=data)
                nisa.nc_find_index8(dst=where, data=data, vals=top)
                nisa.nc_match_replace8(dst=data, data=data, vals=top, imm=LEAST)
                nl.store(values[rows, nl.ds(r * AT_ONCE, AT_ONCE)], value=top)
                nl.store(places[rows, nl.ds(r * AT_ONCE, AT_ONCE)], value=where)
    return values, places
