"""A gated feed-forward layer whose weights stay on chip; features are on the partitions."""

import nki
import nki.isa as nisa
import nki.language as nl

BLOCK, TOKENS = 128, 512


def sbuf(dtype):
    """A block of numbers."""
    return nl.ndarray((BLOCK, TOKENS), dtype=dtype, buffer=nl.sbuf)


def product(dst, weights, column, data):
    """Multiply 128 columns of weights by a block of tokens."""
    some = weights[:, nl.ds(column * BLOCK, BLOCK)]
    nisa.nc_matmul(dst=dst, stationary=some, moving=data)


def psum():
    """A block of sums."""
    return nl.ndarray((BLOCK, TOKENS), dtype=nl.float32, buffer=nl.psum)


@nki.jit
def mlp(x, gate, up, down, tiles):
    """Return down^T (silu(gate^T x) * (up^T x)) for x[feature, token]."""
    features, tokens = down.shape[1], x.shape[1]
    y = nl.ndarray((features, tokens), dtype=x.dtype, buffer=nl.shared_hbm)
    gates, ups = nl.load(gate), nl.load(up)
    blocks = down.shape[0] // BLOCK
    downs = [nl.load(down[nl.ds(f * BLOCK, BLOCK), :]) for f in range(blocks)]
    for i in nl.affine_range(tokens // (TOKENS * tiles)):
        for some in [nl.ds((i * tiles + tile) * TOKENS, TOKENS) for tile in range(tiles)]:
            data, hidden = nl.load(x[:, some]), []
            for f in nl.affine_range(blocks):
                gated, linear, bent, both = psum(), psum(), sbuf(nl.float32), sbuf(x.dtype)
                product(gated, gates, f, data)
                product(linear, ups, f, data)
                nisa.activation(dst=bent, op=nl.silu, data=gated)
                nisa.tensor_tensor(dst=both, data1=bent, data2=linear, op=nl.multiply)
                hidden.append(both)
            for d in nl.affine_range(features // BLOCK):
                sums, out = psum(), sbuf(x.dtype)
                for f in nl.affine_range(blocks):
                    product(sums, downs[f], d, hidden[f])
                nisa.tensor_copy(dst=out, src=sums)
                nl.store(y[nl.ds(d * BLOCK, BLOCK), some], value=out)
    return y
