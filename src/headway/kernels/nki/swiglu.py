"""A gated feed-forward layer: silu(x G) * (x U) D, in blocks of 512 tokens."""

import nki
import nki.isa as nisa
import nki.language as nl

TILE, TOKENS, WIDE = 128, 512, 1024


def psum(columns):
    """Sums of one bank."""
    return nl.ndarray((TILE, columns), dtype=nl.float32, buffer=nl.psum)


def sbuf(columns):
    """A tile of numbers."""
    return nl.ndarray((TILE, columns), dtype=nl.float32, buffer=nl.sbuf)


def transposed(x, first, identity):
    """Load a block of tokens and put its features on the partitions."""
    features = [sbuf(TOKENS) for _ in range(x.shape[1] // TILE)]
    for token in range(TOKENS // TILE):
        rows = nl.load(x[nl.ds(first + token * TILE, TILE), :])
        for number in range(len(features)):
            turned = psum(TILE)
            nisa.nc_matmul(
                dst=turned,
                stationary=rows[:, nl.ds(number * TILE, TILE)],
                moving=identity,
            )
            nisa.tensor_copy(dst=features[number][:, nl.ds(token * TILE, TILE)], src=turned)
    return features


def projected(weights, column, features):
    """The product of 128 columns of the weights with the block, in PSUM."""
    total = psum(TOKENS)
    for step in range(len(features)):
        nisa.nc_matmul(
            dst=total, stationary=weights[step][:, nl.ds(column, TILE)], moving=features[step]
        )
    return total


def rows_of(matrix, column, width):
    """Load some columns of a matrix, 128 rows at a time."""
    count = matrix.shape[0] // TILE
    return [nl.load(matrix[nl.ds(n * TILE, TILE), nl.ds(column, width)]) for n in range(count)]


def down_projected(hidden, row, weights):
    """The product of 128 tokens with some columns of the weights, in SBUF."""
    total, out = psum(TOKENS), sbuf(TOKENS)
    for step in range(len(hidden)):
        nisa.nc_matmul(
            dst=total, stationary=hidden[step][:, nl.ds(row * TILE, TILE)], moving=weights[step]
        )
    nisa.tensor_copy(dst=out, src=total)
    return out


@nki.jit
def swiglu(x, gate, up, down, identity):
    """Return the layer's output for all tokens."""
    y = nl.ndarray((x.shape[0], down.shape[1]), dtype=x.dtype, buffer=nl.shared_hbm)
    unit = nl.load(identity)
    for block in nl.affine_range(x.shape[0] // TOKENS):
        features = transposed(x, block * TOKENS, unit)
        hidden = []
        for part in range(gate.shape[1] // WIDE):
            gates, ups = (rows_of(m, part * WIDE, WIDE) for m in (gate, up))
            for column in range(WIDE // TILE):
                gated, linear = (
                    projected(weights, column * TILE, features) for weights in (gates, ups)
                )
                sigma, both = sbuf(TOKENS), sbuf(TOKENS)
                nisa.activation(dst=sigma, op=nl.silu, data=gated)
                nisa.tensor_tensor(dst=both, data1=sigma, data2=linear, op=nl.multiply)
                hidden.append(both)
        for half in nl.affine_range(down.shape[1] // TOKENS):
            weights = rows_of(down, half * TOKENS, TOKENS)
            for row in range(TOKENS // TILE):
                out = down_projected(hidden, row, weights)
                rows = nl.ds(block * TOKENS + row * TILE, TILE)
                nl.store(y[rows, nl.ds(half * TOKENS, TOKENS)], value=out)
    return y
