"""Recurrent delta rule: a state that fades, learns what it recalled wrongly, and answers."""

import nki
import nki.isa as nisa
import nki.language as nl

WIDE = 128
KEY, QUERY, DECAY = slice(0, 1), slice(1, 2), slice(2, 3)


def sbuf(rows, columns):
    """A tile of numbers."""
    return nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)


def product(stationary, moving):
    """A product of matrices, in PSUM."""
    shape = (stationary.shape[1], moving.shape[1])
    result = nl.ndarray(shape, dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=result, stationary=stationary, moving=moving)
    return result


@nki.jit
def delta_rule(columns, rows, tiles):
    """Return the answer [token, 1, feature] to each token.

    `columns` has a token's key, query and logarithm of its decay as columns, `rows` its key and its
    value beside each other.
    """
    tokens = columns.shape[0]
    y = nl.ndarray((tokens, 1, WIDE), dtype=nl.float32, buffer=nl.shared_hbm)
    state = sbuf(WIDE, WIDE)
    nisa.memset(dst=state, value=0.0)
    for i in nl.sequential_range(tokens // tiles):
        for token in [i * tiles + tile for tile in range(tiles)]:
            column = nl.load(columns[token])
            row = nl.load(rows[token])
            fade, wrong, answer = sbuf(WIDE, 1), sbuf(1, WIDE), sbuf(1, WIDE)
            nisa.activation(dst=fade, op=nl.exp, data=column[:, DECAY])
            nisa.tensor_scalar(dst=state, data=state, op0=nl.multiply, operand0=fade)
            recalled = product(column[:, KEY], state)
            nisa.tensor_tensor(dst=wrong, data1=row[:, WIDE:], data2=recalled, op=nl.subtract)
            update = product(row[:, :WIDE], wrong)
            nisa.tensor_tensor(dst=state, data1=state, data2=update, op=nl.add)
            nisa.activation(dst=answer, op=nl.copy, data=product(column[:, QUERY], state))
            nl.store(y[token], value=answer)
    return y
