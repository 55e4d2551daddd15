"""Attention in three forms: causal, over pages of a cache, and for one new token of each sequence.

The first two go on from key tile to key tile with the greatest score so far, the sum of weights and
the weighted values; the third takes one softmax over all scores of a sequence. Queries and keys are
[feature, token], with the scale in the queries.
"""

import nki
import nki.isa as nisa
import nki.language as nl

TILE = 128
FAR = 1e30


def sbuf(rows, columns, dtype=nl.float32):
    """Numbers for each row."""
    tile = nl.ndarray((rows, columns), dtype=dtype, buffer=nl.sbuf)
    return tile


def psum(rows, columns, dtype=nl.float32):
    """What the tensor engine gives."""
    sums = nl.ndarray((rows, columns), dtype=dtype, buffer=nl.psum)
    return sums


class State:
    """What queries know so far: `low` is the greatest score, with the other sign."""

    def __init__(self, query, features):
        self.query, self.rows, self.features = query, query.shape[1], features
        self.low, self.total = sbuf(self.rows, 1), sbuf(self.rows, 1)
        self.out = sbuf(self.rows, features)
        nisa.memset(dst=self.low, value=FAR)
        nisa.memset(dst=self.total, value=0.0)
        nisa.memset(dst=self.out, value=0.0)

    def scores(self, keys):
        """The scores of keys, in PSUM, and the greatest, with the other sign."""
        scores, least = psum(self.rows, keys.shape[1]), sbuf(self.rows, 1)
        nisa.nc_matmul(dst=scores, stationary=self.query, moving=keys)
        nisa.tensor_reduce(dst=least, op=nl.maximum, data=scores, axis=1, negate=True)
        return scores, least

    def scores_behind(self, keys, first, numbers):
        """The same, without keys whose number, from `first` on, is greater than that of a query."""
        scores, top, least = psum(self.rows, keys.shape[1]), sbuf(self.rows, 1), sbuf(self.rows, 1)
        seen = sbuf(self.rows, keys.shape[1])
        nisa.nc_matmul(dst=scores, stationary=self.query, moving=keys)
        nisa.range_select(
            dst=seen,
            on_true_tile=scores,
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
        nisa.tensor_scalar(dst=least, data=top, op0=nl.multiply, operand0=-1.0)
        return seen, least

    def take(self, scores, least, values):
        """Let the values weigh what exp of their scores says; what was known before fades."""
        weight = sbuf(self.rows, scores.shape[1], values.dtype)
        now, fade, here = sbuf(self.rows, 1), sbuf(self.rows, 1), sbuf(self.rows, 1)
        nisa.tensor_tensor(dst=now, data1=self.low, data2=least, op=nl.minimum)
        nisa.activation_reduce(
            dst=weight, op=nl.exp, data=scores, bias=now, reduce_op=nl.add, reduce_res=here
        )
        nisa.activation(dst=fade, op=nl.exp, data=self.low, scale=-1.0, bias=now)
        nisa.tensor_copy(dst=self.low, src=now)
        for known, more in ((self.total, here), (self.out, weighted(weight, values))):
            nisa.scalar_tensor_tensor(
                dst=known, data=known, op0=nl.multiply, operand0=fade, op1=nl.add, operand1=more
            )

    def result(self, dtype):
        """The mean of all values by their weights."""
        out = sbuf(self.rows, self.features, dtype)
        nisa.reciprocal(dst=self.total, data=self.total)
        nisa.tensor_scalar(dst=out, data=self.out, op0=nl.multiply, operand0=self.total)
        return out


def weighted(weight, values):
    """The product of weights [query, token] and values [token, feature], in PSUM."""
    rows, tokens = weight.shape
    turned, across = psum(tokens, rows, weight.dtype), sbuf(tokens, rows, weight.dtype)
    part = psum(rows, values.shape[1])
    nisa.nc_transpose(dst=turned, data=weight)
    nisa.tensor_copy(dst=across, src=turned)
    nisa.nc_matmul(dst=part, stationary=across, moving=values)
    return part


@nki.jit
def flash_attention(q, k, v, tiles):
    """Return the attention of each token to itself and to those before it.

    An iteration takes `tiles` tiles of queries, and inside as many tiles of keys.
    """
    y = nl.ndarray((q.shape[1], v.shape[1]), dtype=q.dtype, buffer=nl.shared_hbm)
    for row in nl.affine_range(q.shape[1] // (TILE * tiles)):
        for start in [(row * tiles + tile) * TILE for tile in range(tiles)]:
            state = State(nl.load(q[:, nl.ds(start, TILE)]), v.shape[1])
            numbers = sbuf(TILE, 1)
            nisa.iota(dst=numbers, pattern=[[0, 1]], offset=start, channel_multiplier=1)

            def visit(j, state=state, numbers=numbers):
                for first in [(j * tiles + tile) * TILE for tile in range(tiles)]:
                    keys = nl.load(k[:, nl.ds(first, TILE)])
                    values = nl.load(v[nl.ds(first, TILE), :])
                    state.take(*state.scores_behind(keys, first, numbers), values)

            nl.fori_loop(0, row + 1, visit)
            nl.store(y[nl.ds(start, TILE), :], value=state.result(y.dtype))
    return y


def page(pages, numbers, features):
    """Fetch rows of the cache: a feature of the keys, then the values of a token."""
    both = sbuf(TILE, pages.shape[1], pages.dtype)
    pattern = [[0, TILE], [1, pages.shape[1]]]
    nisa.dma_copy(dst=both, src=pages.ap(pattern=pattern, vector_offset=numbers, indirect_dim=0))
    return both[:, :TILE], both[:, nl.ds(TILE, features)]


@nki.jit
def paged_attention(q, pages, table, lengths, q_new, table_new, tiles):
    """Return the attention of tiles of queries, and of single new ones, to pages of a cache.

    A page is 128 rows of `pages`, whose numbers are a column of a `table[query tile]`. `lengths`
    has the pages of each tile of queries, over `tiles`; new queries have `tiles` pages each.
    """
    count, _, rows = q.shape
    features = pages.shape[1] - TILE
    y = nl.ndarray((count, rows, features), dtype=q.dtype, buffer=nl.shared_hbm)
    y_new = nl.ndarray((q_new.shape[0], 1, features), dtype=q.dtype, buffer=nl.shared_hbm)
    for t in nl.affine_range(count):
        where = nl.load(table[t])
        state = State(nl.load(q[t]), features)
        length = nisa.register_alloc(nl.load(lengths[nl.ds(t, 1), :]))

        def visit(g, state=state, where=where):
            for column in [g * tiles + tile for tile in range(tiles)]:
                keys, values = page(pages, where[:, nl.ds(column, 1)], features)
                state.take(*state.scores(keys), values)

        nl.fori_loop(0, length, visit)
        nl.store(y[t], value=state.result(y.dtype))
    for new in nl.affine_range(q_new.shape[0]):
        where = nl.load(table_new[new])
        state = State(nl.load(q_new[new]), features)
        for column in [*range(tiles)]:
            keys, values = page(pages, where[:, nl.ds(column, 1)], features)
            state.take(*state.scores(keys), values)
        nl.store(y_new[new], value=state.result(y.dtype))
    return y, y_new


@nki.jit
def token_attention(q, k, v, lengths, tiles):
    """Return the attention of all heads of one new token of each sequence.

    q is [sequence, feature, head], k [sequence, feature, token] and v [sequence, token, feature];
    `lengths` has the number of tiles of tokens of each sequence, over `tiles`.
    """
    count, _, heads = q.shape
    room, features = k.shape[2], v.shape[2]
    y = nl.ndarray((count, heads, features), dtype=q.dtype, buffer=nl.shared_hbm)
    for b in nl.affine_range(count):
        query, length = nl.load(q[b]), nisa.register_alloc(nl.load(lengths[nl.ds(b, 1), :]))
        scores, weight = sbuf(heads, room), sbuf(heads, room, v.dtype)
        low, total = sbuf(heads, 1), sbuf(heads, 1)
        sums, out = sbuf(heads, features), sbuf(heads, features, y.dtype)
        nisa.memset(dst=scores, value=-FAR)
        nisa.memset(dst=sums, value=0.0)

        def score(s, b=b, query=query, scores=scores):
            for some in [nl.ds((s * tiles + tile) * TILE, TILE) for tile in range(tiles)]:
                part = psum(heads, TILE)
                nisa.nc_matmul(dst=part, stationary=query, moving=nl.load(k[b, :, some]))
                nisa.activation(dst=scores[:, some], op=nl.copy, data=part)

        def weigh(s, b=b, weight=weight, sums=sums):
            for some in [nl.ds((s * tiles + tile) * TILE, TILE) for tile in range(tiles)]:
                part = weighted(weight[:, some], nl.load(v[b, some, :]))
                nisa.tensor_tensor(dst=sums, data1=sums, data2=part, op=nl.add)

        nl.fori_loop(0, length, score)
        nisa.tensor_reduce(dst=low, op=nl.maximum, data=scores, axis=1, negate=True)
        nisa.activation_reduce(
            dst=weight, op=nl.exp, data=scores, bias=low, reduce_op=nl.add, reduce_res=total
        )
        nisa.reciprocal(dst=total, data=total)
        nl.fori_loop(0, length, weigh)
        nisa.tensor_scalar(dst=out, data=sums, op0=nl.multiply, operand0=total)
        nl.store(y[b], value=out)
    return y
