"""What the packaged NKI kernels compute, in numpy: our own references, from their definitions.

`expected` are the results of a kernel, in order, for its arguments; of a kernel without results
they are the tensors that it changes. `ranges` names arguments that have to lie where the
definition makes sense; all others are standard normal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy

np: Any = numpy

Arrays = Mapping[str, Any]
TILE = 128


@dataclass(frozen=True, slots=True)
class Reference:
    """One kernel: the function, arguments in a range of their own, and results left in place."""

    expected: Callable[..., tuple[Any, ...]]
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, Any])
    changes: tuple[str, ...] = ()


# ---- products


def _product(a: Any, b: Any) -> tuple[Any, ...]:
    return (a @ b,)


def _symmetric(a: Any) -> tuple[Any, ...]:
    return (a @ a.T,)


def _complex_product(a_real: Any, a_imag: Any, b_real: Any, b_imag: Any) -> tuple[Any, ...]:
    c = (a_real + 1j * a_imag) @ (b_real + 1j * b_imag)
    return c.real, c.imag


def _complex_linear(x_real: Any, x_imag: Any, w_real: Any, w_imag: Any) -> tuple[Any, ...]:
    return _complex_product(x_real, x_imag, w_real.T, w_imag.T)


def _complex_elements(a_real: Any, a_imag: Any, b_real: Any, b_imag: Any) -> tuple[Any, ...]:
    c = (a_real + 1j * a_imag) * (b_real + 1j * b_imag)
    return c.real, c.imag


def _transformed(eri: Any, C_occ: Any, C_vir: Any) -> tuple[Any, ...]:
    return (np.einsum("mi,na,mnp->iap", C_occ, C_vir, eri, optimize=True),)


def _block_sparse(blocks_pad: Any, b_gathered: Any) -> tuple[Any, ...]:
    rows = np.einsum("mkij,mkjn->min", blocks_pad, b_gathered, optimize=True)
    return (rows.reshape(-1, rows.shape[-1]),)


def _screened(a: Any, q: Any, threshold_sqrt: float, b: Any) -> tuple[Any, ...]:
    single = q.astype(np.float32)
    return ((a * (single * single.T > np.float32(threshold_sqrt))) @ b,)


# ---- energies of pairs


def _pair(left: Any, right: Any, occupied: Any, virtual: Any) -> Any:
    t = left @ right.T
    return t * (2 * t - t.T) / (occupied - virtual[:, None] - virtual[None, :])


def _strips(term: Any) -> Any:
    """Sum over the columns, and over the strips of 128 rows."""
    return term.sum(axis=1).reshape(-1, TILE).sum(axis=0)


def _batched_pairs(B: Any, eps_occ_row: Any, eps_vir_col: Any, eps_vir_row: Any) -> tuple[Any, ...]:
    del eps_vir_row
    occupied, virtual = eps_occ_row[0], eps_vir_col[:, 0]
    columns = [
        _strips(_pair(B[i], B[j], occupied[i] + occupied[j], virtual))
        for i in range(len(B))
        for j in range(len(B))
    ]
    return (np.stack(columns, axis=1),)


def _pairs_of_one(
    b_i: Any, B: Any, eps_occ_i: Any, eps_occ_row: Any, eps_vir_col: Any, eps_vir_row: Any
) -> tuple[Any, ...]:
    del eps_vir_row
    sums = eps_occ_i[0, 0] + eps_occ_row[0]
    virtual = eps_vir_col[:, 0]
    columns = [_strips(_pair(b_i, b, e, virtual)) for b, e in zip(B, sums, strict=True)]
    return (np.stack(columns, axis=1),)


def _fused_pair(
    b_i: Any, b_j: Any, eps_occ_sum: Any, eps_vir_col: Any, eps_vir_row: Any
) -> tuple[Any, ...]:
    del eps_vir_row
    return (_pair(b_i, b_j, eps_occ_sum[0, 0], eps_vir_col[:, 0]).sum(axis=1, keepdims=True),)


def _flat_pairs(
    T_flat: Any, eps_occ_chunk: Any, eps_occ_full: Any, eps_vir_col: Any, eps_vir_row: Any
) -> tuple[Any, ...]:
    del eps_vir_row
    virtual = eps_vir_col[:, 0]
    n = len(virtual)
    columns: list[Any] = []
    for i, first in enumerate(eps_occ_chunk[0]):
        for j, second in enumerate(eps_occ_full[0]):
            t = T_flat[i * n : (i + 1) * n, j * n : (j + 1) * n]
            gap = first + second - virtual[:, None] - virtual[None, :]
            columns.append(_strips(t * (2 * t - t.T) / gap))
    return (np.stack(columns, axis=1),)


def _energies(B: Any, eps_occ: Any, eps_vir: Any) -> tuple[Any, ...]:
    occupied, virtual = eps_occ[:, 0], eps_vir[:, 0]
    pairs = [
        [
            _pair(left, right, first + second, virtual).sum()
            for right, second in zip(B, occupied, strict=True)
        ]
        for left, first in zip(B, occupied, strict=True)
    ]
    return (np.array(pairs),)


# ---- transforms


def _butterfly(
    x_re: Any, x_im: Any, tw_re_bcast: Any, tw_im_bcast: Any, n: int, stage: int
) -> tuple[Any, ...]:
    width = 2 << stage
    groups = (x_re + 1j * x_im).reshape(-1, width)
    twiddled = (tw_re_bcast + 1j * tw_im_bcast) * groups[:, width // 2 :]
    even = groups[:, : width // 2]
    out = np.concatenate([even + twiddled, even - twiddled], axis=1).reshape(-1, n)
    return out.real, out.imag


def _rotated(D_ref: Any, V_ref: Any, p: int, q: int, c: float, s: float, n: int) -> tuple[Any, ...]:
    d, v = D_ref.copy(), V_ref.copy()
    g = np.eye(n)
    g[p, p], g[q, q], g[p, q], g[q, p] = c, c, s, -s
    d = g.T @ d @ g
    d[p, q] = d[q, p] = 0
    return d, v @ g


# ---- random numbers: whole numbers of 32 bits, kept in 64

MASK = 0xFFFFFFFF


def _philox(counter_lo_ref: Any, key_lo_ref: Any, key_hi_ref: Any) -> tuple[Any, ...]:
    c = [counter_lo_ref.astype(np.uint64), *[np.zeros_like(counter_lo_ref, np.uint64)] * 3]
    k = [key_lo_ref.astype(np.uint64), key_hi_ref.astype(np.uint64)]
    low, high = np.uint64(MASK), np.uint64(32)
    for _ in range(10):
        one, two = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(two >> high) ^ c[1] ^ k[0], two & low, (one >> high) ^ c[3] ^ k[1], one & low]
        k = [(k[0] + np.uint64(0x9E3779B9)) & low, (k[1] + np.uint64(0xBB67AE85)) & low]
    return (np.concatenate(c, axis=1).astype(np.uint32).view(np.int32),)


def _threefry_words(words: list[Any], keys: list[Any]) -> list[Any]:
    x = [w.astype(np.int64) for w in words]
    k = [w.astype(np.int64) for w in keys]
    k.append(k[0] ^ k[1] ^ k[2] ^ k[3] ^ 0x1BD11BDA)

    def inject(step: int) -> None:
        for i in range(4):
            x[i] = (x[i] + k[(step + i) % 5] + (step if i == 3 else 0)) & MASK

    def mix(a: int, b: int, turn: int) -> None:
        x[a] = (x[a] + x[b]) & MASK
        x[b] = (((x[b] << turn) | (x[b] >> (32 - turn))) & MASK) ^ x[a]

    inject(0)
    for turn in range(20):
        first, second = ((10, 26), (11, 21), (13, 27), (23, 5))[turn % 4]
        mix(0, 1 if turn % 2 == 0 else 3, first)
        mix(2, 3 if turn % 2 == 0 else 1, second)
        if turn % 4 == 3:
            inject(turn // 4 + 1)
    return x


def _threefry(**words: Any) -> tuple[Any, ...]:
    counters = [words[f"c{i}_ref"] for i in range(4)]
    keys = [words[f"k{i}_ref"] for i in range(4)]
    mantissas = [w & 0xFFFFFF for w in _threefry_words(counters, keys)]
    return (np.concatenate(mantissas, axis=1) / 2**24,)


def _threefry_normal(**words: Any) -> tuple[Any, ...]:
    (uniform,) = _threefry(**words)
    safe = np.maximum(uniform, 1e-7)
    return (np.concatenate([_normal(safe[:, :2]), _normal(safe[:, 2:])], axis=1),)


def _normal(uniform: Any) -> Any:
    radius = np.sqrt(-2 * np.log(np.maximum(uniform[:, 0], 1e-10)))
    angle = 2 * np.pi * uniform[:, 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _box_muller(uniforms_ref: Any) -> tuple[Any, ...]:
    return (_normal(uniforms_ref),)


# Of dimensions 2 to 10: degree, polynomial and first numbers, as the package has them. Those of
# dimensions 3 to 6 are not the ones that Joe and Kuo published for these polynomials.
_DIRECTIONS: tuple[tuple[int, int, tuple[int, ...]], ...] = (
    (1, 0, (1,)),
    (2, 1, (1, 1)),
    (3, 1, (1, 1, 1)),
    (3, 2, (1, 1, 3)),
    (4, 1, (1, 1, 1, 1)),
    (4, 4, (1, 3, 5, 13)),
    (5, 2, (1, 1, 5, 5, 17)),
    (5, 4, (1, 1, 5, 5, 5)),
    (5, 7, (1, 1, 7, 11, 19)),
)


def _directions(degree: int, polynomial: int, first: tuple[int, ...], bits: int) -> list[int]:
    numbers = list(first)
    for k in range(degree, bits):
        new = numbers[k - degree] ^ (numbers[k - degree] << degree)
        for i in range(1, degree):
            if polynomial >> (degree - 1 - i) & 1:
                new ^= numbers[k - i] << i
        numbers.append(new)
    return [number << (bits - 1 - k) for k, number in enumerate(numbers)]


def _sobol(gray_ref: Any) -> tuple[Any, ...]:
    bits = 24
    rows = [[1 << (bits - 1 - k) for k in range(bits)]]
    rows += [_directions(*row, bits) for row in _DIRECTIONS]
    gray = gray_ref[:, 0].astype(np.int64)
    out = np.zeros((len(gray), len(rows)), dtype=np.int64)
    for d, row in enumerate(rows):
        for k, direction in enumerate(row):
            out[:, d] ^= (gray >> k & 1) * direction
    return (out / 2**bits,)


def _halton(indices_ref: Any) -> tuple[Any, ...]:
    columns: list[Any] = []
    for prime in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29):
        left, weight = indices_ref[:, 0].astype(np.int64), 1.0 / prime
        column = np.zeros(len(left))
        while left.any():
            left, digit = left // prime, left % prime
            column += digit * weight
            weight /= prime
        columns.append(column)
    return (np.stack(columns, axis=1),)


# ---- attention with blocks


def _scores(q: Any, k: Any) -> Any:
    return np.einsum("mid,mkjd->mkij", q, k, optimize=True)


def _stats(q_scaled_blocks: Any, k_gathered_pad: Any) -> tuple[Any, ...]:
    scores = _scores(q_scaled_blocks, k_gathered_pad)
    most = scores.max(axis=-1, keepdims=True)
    return most, np.exp(scores - most).sum(axis=-1, keepdims=True)


def _weights(scores: Any, row_max: Any, row_denom: Any) -> Any:
    return np.exp(scores - row_max) / row_denom


def _attended(
    q_scaled_blocks: Any, k_gathered_pad: Any, v_gathered_pad: Any, row_max: Any, row_denom: Any
) -> tuple[Any, ...]:
    scores = _scores(q_scaled_blocks, k_gathered_pad)
    weights = _weights(scores, row_max[:, None], row_denom[:, None])
    out = np.einsum("mkij,mkjd->mid", weights, v_gathered_pad, optimize=True)
    return (out.reshape(-1, out.shape[-1]),)


def _attended_dq(
    q_scaled_blocks: Any,
    k_gathered_pad: Any,
    v_gathered_pad: Any,
    do_gathered_pad: Any,
    D_blocks: Any,
    row_max: Any,
    row_denom: Any,
) -> tuple[Any, ...]:
    scores = _scores(q_scaled_blocks, k_gathered_pad)
    weights = _weights(scores, row_max[:, None], row_denom[:, None])
    slopes = np.einsum("mkid,mkjd->mkij", do_gathered_pad, v_gathered_pad, optimize=True)
    ds = weights * (slopes - D_blocks[:, None])
    out = np.einsum("mkij,mkjd->mid", ds, k_gathered_pad, optimize=True)
    return (out.reshape(-1, out.shape[-1]),)


def _attended_dkdv(
    k_blocks: Any,
    v_blocks: Any,
    q_gathered_col: Any,
    do_gathered_col: Any,
    D_gathered_col: Any,
    row_max_gathered_col: Any,
    row_denom_gathered_col: Any,
) -> tuple[Any, ...]:
    scores = np.einsum("kmid,kjd->kmij", q_gathered_col, k_blocks, optimize=True)
    weights = _weights(scores, row_max_gathered_col, row_denom_gathered_col)
    slopes = np.einsum("kmid,kjd->kmij", do_gathered_col, v_blocks, optimize=True)
    ds = weights * (slopes - D_gathered_col)
    dk = np.einsum("kmij,kmid->kjd", ds, q_gathered_col, optimize=True)
    dv = np.einsum("kmij,kmid->kjd", weights, do_gathered_col, optimize=True)
    return dk.reshape(-1, dk.shape[-1]), dv.reshape(-1, dv.shape[-1])


# Occupied energies lie below virtual ones, or the quotients have poles.
_BELOW, _ABOVE = (-3.0, -2.0), (1.0, 2.0)
_OCCUPIED = dict.fromkeys(
    ("eps_occ", "eps_occ_sum", "eps_occ_i", "eps_occ_row", "eps_occ_chunk", "eps_occ_full"), _BELOW
)
_VIRTUAL = {"eps_vir": _ABOVE, "eps_vir_col": _ABOVE}
_ENERGY = {**_OCCUPIED, **_VIRTUAL}
_SOFTMAX = {
    **dict.fromkeys(("row_max", "row_max_gathered_col"), (20.0, 30.0)),
    **dict.fromkeys(("row_denom", "row_denom_gathered_col"), (1.0, 2.0)),
}

REFERENCES: Mapping[str, Reference] = {
    **{
        f"_gemm_kernel_{m}_{k}_{n}": Reference(_product)
        for m, k in ((64, 128), (128, 128))
        for n in (128, 256, 512)
    },
    "_syrk_kernel": Reference(_symmetric),
    "_mp2_energy_kernel": Reference(_flat_pairs, _ENERGY),
    "_fused_gemm_energy_kernel": Reference(_fused_pair, _ENERGY),
    "_batched_pair_kernel": Reference(_batched_pairs, _ENERGY),
    "_j_batched_kernel": Reference(_pairs_of_one, _ENERGY),
    "_complex_gemm_kernel": Reference(_complex_product),
    "_complex_linear_kernel": Reference(_complex_linear),
    "_complex_mul_kernel": Reference(_complex_elements),
    "butterfly_stage_kernel": Reference(_butterfly),
    "butterfly_stage_kernel_kahan": Reference(_butterfly),
    "philox4x32_kernel": Reference(_philox),
    "box_muller_kernel": Reference(_box_muller, {"uniforms_ref": (0.0, 1.0)}),
    "threefry4x32_kernel": Reference(_threefry),
    "threefry_normal_kernel": Reference(_threefry_normal),
    "sobol_gray_code_kernel": Reference(_sobol),
    "halton_kernel": Reference(_halton),
    "jacobi_rotation_kernel": Reference(_rotated, changes=("D_ref", "V_ref")),
    "_bsr_spmm_kernel": Reference(_block_sparse),
    "_spmm_dense_kernel": Reference(_product),
    "_screened_spmm_kernel": Reference(_screened),
    "_attn_stats_kernel": Reference(_stats),
    "_attn_out_kernel": Reference(_attended, _SOFTMAX),
    "_attn_bwd_dq_kernel": Reference(_attended_dq, _SOFTMAX),
    "_attn_bwd_dkdv_kernel": Reference(_attended_dkdv, _SOFTMAX),
    "matmul_kernel": Reference(_product),
    "batched_matmul_kernel": Reference(_product),
    "mp2_energy_kernel": Reference(_energies, _ENERGY),
    "ao_to_mo_transform_kernel": Reference(_transformed),
}
