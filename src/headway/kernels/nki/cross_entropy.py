"""Cross entropy over a large vocabulary: greatest logit and sum go on from chunk to chunk."""

import nki
import nki.isa as nisa
import nki.language as nl

ROWS, COLUMNS = 128, 2048
FAR = 1e30


def column():
    """A number for each row."""
    number = nl.ndarray((ROWS, 1), dtype=nl.float32, buffer=nl.sbuf)
    return number


def take(data, low, total):
    """Let a chunk of logits join `total`, the sum of exp(logit + low); `low` is -max so far."""
    least, now, fade, here = column(), column(), column(), column()
    e = nl.ndarray(data.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=least, op=nl.maximum, data=data, axis=1, negate=True)
    nisa.tensor_tensor(dst=now, data1=low, data2=least, op=nl.minimum)
    nisa.activation_reduce(dst=e, op=nl.exp, data=data, bias=now, reduce_op=nl.add, reduce_res=here)
    nisa.activation(dst=fade, op=nl.exp, data=low, scale=-1.0, bias=now)
    nisa.tensor_copy(dst=low, src=now)
    nisa.scalar_tensor_tensor(
        dst=total, data=total, op0=nl.multiply, operand0=fade, op1=nl.add, operand1=here
    )


@nki.jit
def cross_entropy(logits, chosen, tiles):
    """Return -log softmax of each row's chosen logit, which comes beside the logits."""
    loss = nl.ndarray((logits.shape[0], 1), dtype=nl.float32, buffer=nl.shared_hbm)
    for p in nl.affine_range(logits.shape[0] // ROWS):
        rows = nl.ds(p * ROWS, ROWS)
        low, total, out = column(), column(), column()
        nisa.memset(dst=low, value=FAR)
        nisa.memset(dst=total, value=0.0)
        for v in nl.sequential_range(logits.shape[1] // (COLUMNS * tiles)):
            for some in [nl.ds((v * tiles + tile) * COLUMNS, COLUMNS) for tile in range(tiles)]:
                take(nl.load(logits[rows, some]), low, total)
        nisa.activation(dst=out, op=nl.log, data=total)
        nisa.tensor_tensor(dst=out, data1=out, data2=low, op=nl.subtract)
        nisa.tensor_tensor(dst=out, data1=out, data2=nl.load(chosen[rows, :]), op=nl.subtract)
        nl.store(loss[rows, :], value=out)
    return loss
