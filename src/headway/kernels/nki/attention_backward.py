"""The gradients of causal attention: over key tiles, inside over the queries that see them.

Tiles of queries, of the result's gradient and of keys come with their transpose beside them, so
that each is an operand of the tensor engine as it is and turned.
"""

import nki
import nki.isa as nisa
import nki.language as nl

TILE = 128
ROWS, TURNED = slice(0, TILE), slice(TILE, 2 * TILE)
FAR = 1e30


def sbuf(columns, dtype=nl.float32):
    """Numbers for each row."""
    tile = nl.ndarray((TILE, columns), dtype=dtype, buffer=nl.sbuf)
    return tile


def product(stationary, moving, dtype=nl.float32):
    """A product of two tiles, in PSUM."""
    sums = nl.ndarray((TILE, TILE), dtype=dtype, buffer=nl.psum)
    nisa.nc_matmul(dst=sums, stationary=stationary, moving=moving)
    return sums


def add(dst, part):
    """Add to a sum in SBUF."""
    nisa.tensor_tensor(dst=dst, data1=dst, data2=part, op=nl.add)


def weights(query, keys, first, numbers, low):
    """exp(score + low) for keys, from number `first` on, up to each query's own number."""
    seen, weight = sbuf(TILE), sbuf(TILE, keys.dtype)
    top = sbuf(1)
    nisa.range_select(
        dst=seen,
        on_true_tile=product(query[:, TURNED], keys[:, TURNED]),
        comp_op0=nl.greater_equal,
        comp_op1=nl.less_equal,
        bound0=0.0,
        bound1=numbers,
        range_start=first,
        on_false_value=-FAR,
        reduce_cmd=nisa.reduce_cmd.reset_reduce,
        reduce_op=nl.maximum,
        reduce_res=top,
    )
    nisa.activation(dst=weight, op=nl.exp, data=seen, bias=low)
    return weight


def slopes(weight, gradient, values, mean):
    """The gradient of the scores, and its transpose."""
    slope, across = sbuf(TILE, weight.dtype), sbuf(TILE, weight.dtype)
    nisa.scalar_tensor_tensor(
        dst=slope,
        data=product(gradient[:, TURNED], values),
        op0=nl.subtract,
        operand0=mean,
        op1=nl.multiply,
        operand1=weight,
    )
    turned = nl.ndarray((TILE, TILE), dtype=weight.dtype, buffer=nl.psum)
    nisa.nc_transpose(dst=turned, data=slope)
    nisa.tensor_copy(dst=across, src=turned)
    return slope, across


@nki.jit
def attention_backward(q, dy, k, v, stats, tiles):
    """Return the gradients of queries, keys and values, each [head, tile, token, feature].

    q, dy and k are [head, tile, 128, 256], v is [head, tile, feature, token]; `stats` has for each
    query minus the logarithm of the sum of its weights, the sum of dy times the result, and its
    number.
    """
    heads, count = q.shape[:2]
    shape = (heads, count, TILE, TILE)
    dq, dk, dv = (nl.ndarray(shape, dtype=q.dtype, buffer=nl.shared_hbm) for _ in "qkv")
    for h in nl.affine_range(heads):
        dq_sums = sbuf(count * TILE)
        for clear in nl.affine_range(count):
            nisa.memset(dst=dq_sums[:, nl.ds(clear * TILE, TILE)], value=0.0)
        for j in nl.affine_range(count // tiles):
            for key in [j * tiles + tile for tile in range(tiles)]:
                keys, values, dk_sum, dv_sum = (
                    nl.load(k[h, key]),
                    nl.load(v[h, key]),
                    sbuf(TILE),
                    sbuf(TILE),
                )
                dk_out, dv_out = sbuf(TILE, q.dtype), sbuf(TILE, q.dtype)
                nisa.memset(dst=dk_sum, value=0.0)
                nisa.memset(dst=dv_sum, value=0.0)

                def visit(
                    i,
                    h=h,
                    key=key,
                    keys=keys,
                    values=values,
                    dk_sum=dk_sum,
                    dv_sum=dv_sum,
                    dq_sums=dq_sums,
                ):
                    for row in [i * tiles + tile for tile in range(tiles)]:
                        query, gradient = nl.load(q[h, row]), nl.load(dy[h, row])
                        facts = nl.load(stats[h, row])
                        weight = weights(query, keys, key * TILE, facts[:, 2:3], facts[:, 0:1])
                        add(dv_sum, product(weight, gradient[:, ROWS]))
                        slope, across = slopes(weight, gradient, values, facts[:, 1:2])
                        add(dk_sum, product(slope, query[:, ROWS]))
                        add(dq_sums[:, nl.ds(row * TILE, TILE)], product(across, keys[:, ROWS]))

                nl.fori_loop(j, count // tiles, visit)
                nisa.activation(dst=dk_out, op=nl.copy, data=dk_sum)
                nisa.activation(dst=dv_out, op=nl.copy, data=dv_sum)
                nl.store(dk[h, key], value=dk_out)
                nl.store(dv[h, key], value=dv_out)
        for out in nl.affine_range(count):
            nl.store(dq[h, out], value=dq_sums[:, nl.ds(out * TILE, TILE)])
    return dq, dk, dv
