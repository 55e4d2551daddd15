"""One-dimensional convolution: sums over taps in PSUM; an image serves all blocks of channels."""

import nki
import nki.isa as nisa
import nki.language as nl

CHANNELS = 128


@nki.jit
def conv1d(images, weights, tiles):
    """Return the valid part of the convolution of images[image, channel, place].

    The weights of a block of output channels are [block, input channel, tap * output channel].
    """
    count, _, length = images.shape
    blocks, taps = weights.shape[0], weights.shape[2] // CHANNELS
    wide = length - taps + 1
    y = nl.ndarray((count, blocks, CHANNELS, wide), dtype=images.dtype, buffer=nl.shared_hbm)
    for b in nl.affine_range(count):
        image = nl.load(images[b])
        for c in nl.affine_range(blocks // tiles):
            for block in [c * tiles + tile for tile in range(tiles)]:
                weight = nl.load(weights[block])
                sums = nl.ndarray((CHANNELS, wide), dtype=nl.float32, buffer=nl.psum)
                for tap in [*range(taps)]:
                    nisa.nc_matmul(
                        dst=sums,
                        stationary=weight[:, nl.ds(tap * CHANNELS, CHANNELS)],
                        moving=image[:, nl.ds(tap, wide)],
                    )
                out = nl.ndarray((CHANNELS, wide), dtype=images.dtype, buffer=nl.sbuf)
                nisa.tensor_copy(dst=out, src=sums)
                nl.store(y[b, block], value=out)
    return y
