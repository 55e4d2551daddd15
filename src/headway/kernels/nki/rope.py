"""Rotary position embedding: each pair of features turns by an angle that its position gives."""

import nki
import nki.isa as nisa
import nki.language as nl

ROWS = 128


@nki.jit
def rope(x, cosines, sines, tiles):
    """Return x[head, position, feature] turned; the halves of the features are pairs.

    The waves are [position, feature]; the first half of `sines` is negative.
    """
    heads, positions, features = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    left, right = slice(0, features // 2), slice(features // 2, features)
    for s in nl.affine_range(positions // ROWS):
        rows = nl.ds(s * ROWS, ROWS)
        cosine = nl.load(cosines[rows, :])
        sine = nl.load(sines[rows, :])
        for h in nl.affine_range(heads // tiles):
            for head in [h * tiles + tile for tile in range(tiles)]:
                data = nl.load(x[head, rows, :])
                straight = nl.ndarray(data.shape, dtype=x.dtype, buffer=nl.sbuf)
                turned = nl.ndarray(data.shape, dtype=x.dtype, buffer=nl.sbuf)
                nisa.tensor_tensor(dst=straight, data1=data, data2=cosine, op=nl.multiply)
                for to, other in ((left, right), (right, left)):
                    nisa.tensor_tensor(
                        dst=turned[:, to],
                        data1=data[:, other],
                        data2=sine[:, to],
                        op=nl.multiply,
                        engine=nisa.engine.gpsimd,
                    )
                nisa.tensor_tensor(dst=straight, data1=straight, data2=turned, op=nl.add)
                nl.store(y[head, rows, :], value=straight)
    return y
