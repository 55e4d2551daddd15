"""A mixture of experts, in four forms: gather tokens, two layers, add to what is there, scatter.

Which rows of HBM a block of tokens has is known at run time only. What an expert gives is added to
`y`, where other experts of the same tokens have left their part.
"""

import nki
import nki.isa as nisa
import nki.language as nl

BLOCK = 128


def sbuf(columns, dtype, rows=BLOCK):
    """A tile of numbers."""
    tile = nl.ndarray((rows, columns), dtype=dtype, buffer=nl.sbuf)
    return tile


def psum(columns, dtype=nl.float32):
    """What the tensor engine gives."""
    sums = nl.ndarray((BLOCK, columns), dtype=dtype, buffer=nl.psum)
    return sums


def rows_of(matrix, numbers):
    """The rows that a column of numbers names."""
    width = matrix.shape[1]
    return matrix.ap(pattern=[[0, BLOCK], [1, width]], vector_offset=numbers, indirect_dim=0)


def gathered(matrix, numbers):
    """Load the rows that a column of numbers names."""
    tile = sbuf(matrix.shape[1], matrix.dtype)
    nisa.dma_copy(dst=tile, src=rows_of(matrix, numbers))
    return tile


def turned(data):
    """Transpose 128 columns at a time: features on the partitions, block beside block."""
    across = sbuf(data.shape[1], data.dtype)
    for k in nl.affine_range(data.shape[1] // BLOCK):
        some, part = nl.ds(k * BLOCK, BLOCK), psum(BLOCK, data.dtype)
        nisa.nc_transpose(dst=part, data=data[:, some])
        nisa.tensor_copy(dst=across[:, some], src=part)
    return across


def add_to(y, numbers, part):
    """Add to the rows that a column of numbers names."""
    old, new = gathered(y, numbers), sbuf(y.shape[1], y.dtype)
    nisa.tensor_tensor(dst=new, data1=old, data2=part, op=nl.add)
    nisa.dma_copy(dst=rows_of(y, numbers), src=new)


def expert(x, y, numbers, first, second):
    """Add the two layers of an expert for a block of tokens."""
    across, sums, hidden = turned(gathered(x, numbers)), psum(BLOCK), sbuf(BLOCK, x.dtype)
    for k in nl.affine_range(x.shape[1] // BLOCK):
        some = nl.ds(k * BLOCK, BLOCK)
        nisa.nc_matmul(dst=sums, stationary=first[:, some], moving=across[:, some])
    nisa.activation(dst=hidden, op=nl.silu, data=sums)
    out = psum(y.shape[1])
    nisa.nc_matmul(dst=out, stationary=hidden, moving=second)
    add_to(y, numbers, out)


@nki.jit
def moe(x, y, up, down, order, lengths, tiles):
    """Add to y[token, feature] what each expert gives for its tokens.

    `order` has the rows of each block as a column, those of an expert in a row of columns, of which
    it has room for the same number each; `lengths` has its number of blocks, over `tiles`. `up` is
    [expert, feature % 128, block * hidden], `down` is [expert, hidden, feature].
    """
    rows, room = nl.load(order), order.shape[1] // up.shape[0]
    for e in nl.affine_range(up.shape[0]):
        first, second = nl.load(up[e]), nl.load(down[e])
        length = nisa.register_alloc(nl.load(lengths[nl.ds(e, 1), :]))

        def visit(t, e=e, first=first, second=second):
            for column in [e * room + t * tiles + tile for tile in range(tiles)]:
                expert(x, y, rows[:, nl.ds(column, 1)], first, second)

        nl.fori_loop(0, length, visit)
    return y


@nki.jit
def moe_hybrid(x, y, up, down, order, used, blocks, tiles):
    """The same with weights for each group of `tiles` blocks.

    As many as always are there come first, then a tail: as many groups as flags are set in `used`.
    """
    count = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.hbm)
    rows, flags, counted = nl.load(order), nl.load(used), sbuf(1, nl.int32, rows=1)
    nisa.tensor_reduce(dst=counted, op=nl.add, data=flags, axis=1)
    nisa.dma_copy(dst=count, src=counted)

    def visit(t):
        first, second = nl.load(up[t]), nl.load(down[t])
        for column in [t * tiles + tile for tile in range(tiles)]:
            expert(x, y, rows[:, nl.ds(column, 1)], first, second)

    for t in nl.affine_range(blocks // tiles):
        visit(t)
    nl.fori_loop(0, nisa.register_alloc(count), lambda rest: visit(rest + blocks // tiles))
    return y


@nki.jit
def moe_while(x, y, up, down, starts, lengths, tiles):
    """The same for tokens in the order of their experts, while an expert has blocks left.

    `starts` has the rows of the first block of each expert as a column.
    """
    more = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.hbm)
    for e in nl.affine_range(up.shape[0]):
        first, second = nl.load(up[e]), nl.load(down[e])
        rows, left = nl.load(starts[:, nl.ds(e, 1)]), nl.load(lengths[nl.ds(e, 1), :])

        def turn(going, first=first, second=second, rows=rows, left=left):
            for _ in [*range(tiles)]:
                expert(x, y, rows, first, second)
                moved(rows, nl.add, BLOCK)
            moved(left, nl.subtract, 1)
            nisa.dma_copy(dst=more, src=left)
            nisa.register_load(going, more)
            return going

        nisa.dma_copy(dst=more, src=left)
        nl.while_loop(nisa.register_alloc(more), turn)
    return y


def moved(tile, op, number):
    """Add to or subtract from whole numbers."""
    nisa.tensor_scalar(dst=tile, data=tile, op0=op, operand0=number, engine=nisa.engine.gpsimd)


def plus(dst, stationary, moving):
    """Add a product of matrices to a sum in SBUF."""
    part = psum(moving.shape[1])
    nisa.nc_matmul(dst=part, stationary=stationary, moving=moving)
    nisa.tensor_tensor(dst=dst, data1=dst, data2=part, op=nl.add)


def back(x, dy, dx, numbers, weights, d_first, d_second):
    """The gradients of a block of tokens; `weights` has first, its transpose, second's beside."""
    data, gradient = gathered(x, numbers), gathered(dy, numbers)
    before, behind, out = psum(BLOCK), psum(BLOCK), psum(BLOCK)
    hidden, slope = sbuf(BLOCK, x.dtype), sbuf(BLOCK, x.dtype)
    first, first_turned, second_turned = (
        weights[:, nl.ds(part * BLOCK, BLOCK)] for part in (0, 1, 2)
    )
    nisa.nc_matmul(dst=before, stationary=turned(data), moving=first)
    nisa.activation(dst=hidden, op=nl.relu, data=before)
    nisa.nc_matmul(dst=behind, stationary=turned(gradient), moving=second_turned)
    nisa.scalar_tensor_tensor(
        dst=slope, data=hidden, op0=nl.greater, operand0=0.0, op1=nl.multiply, operand1=behind
    )
    plus(d_second, hidden, gradient)
    plus(d_first, data, slope)
    nisa.nc_matmul(dst=out, stationary=turned(slope), moving=first_turned)
    add_to(dx, numbers, out)


@nki.jit
def moe_backward(x, dy, dx, weights, order, lengths, tiles):
    """Return the gradients of the weights; add those of the tokens to `dx`.

    Here the layers are 128 wide and what is between them is its positive part.
    """
    experts = weights.shape[0]
    shape = (experts, BLOCK, BLOCK)
    d_up, d_down = (nl.ndarray(shape, dtype=nl.float32, buffer=nl.shared_hbm) for _ in "12")
    rows, room = nl.load(order), order.shape[1] // experts
    for e in nl.affine_range(experts):
        known, d_first, d_second = (
            nl.load(weights[e]),
            sbuf(BLOCK, nl.float32),
            sbuf(BLOCK, nl.float32),
        )
        length = nisa.register_alloc(nl.load(lengths[nl.ds(e, 1), :]))
        nisa.memset(dst=d_first, value=0.0)
        nisa.memset(dst=d_second, value=0.0)

        def visit(t, e=e, known=known, d_first=d_first, d_second=d_second):
            for column in [e * room + t * tiles + tile for tile in range(tiles)]:
                back(x, dy, dx, rows[:, nl.ds(column, 1)], known, d_first, d_second)

        nl.fori_loop(0, length, visit)
        nl.store(d_up[e], value=d_first)
        nl.store(d_down[e], value=d_second)
    return dx, d_up, d_down
