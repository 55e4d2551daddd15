"""Kernels that come in packages, with arguments to trace them: for the demo, tests and docs.

The packages declare a framework as a dependency that their kernels do not use. Install them without
dependencies: `pip install --no-deps -r REQUIREMENTS`, with the lines of `requirements()`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from headway.errors import Diagnostic, InvalidInput
from headway.frontends.nki.arguments import ArgSpec
from headway.frontends.nki.loading import find_file
from headway.frontends.nki.tracing import Trace, record

VERSIONS: Mapping[str, str] = {
    "trnblas": "0.5.4",
    "trnfft": "0.12.0",
    "trnrand": "0.5.0",
    "trnsolver": "0.3.0",
    "trnsparse": "0.6.0",
    "trntensor": "0.3.0",
}


@dataclass(frozen=True, slots=True)
class PackagedKernel:
    """A kernel in an installed package; `args` are texts that `ArgSpec.parse` reads."""

    module: str
    name: str
    args: Mapping[str, str] = field(hash=False)

    @property
    def package(self) -> str:
        """The package that it comes in."""
        return self.module.partition(".")[0]

    @property
    def title(self) -> str:
        """Return `module:kernel`, as the command line takes it."""
        return f"{self.module}:{self.name}"

    def path(self) -> Path:
        """Return the file in the installed package. Raise InvalidInput if it is not there."""
        try:
            return find_file(self.module)
        except InvalidInput:
            pin = f"{self.package}=={VERSIONS[self.package]}"
            raise InvalidInput(
                Diagnostic(
                    f"package {self.package!r} is not installed",
                    help=f"pip install --no-deps {pin}",
                )
            ) from None

    def is_installed(self) -> bool:
        """Whether the package is there, in the version that the arguments are for."""
        try:
            return version(self.package) == VERSIONS[self.package]
        except PackageNotFoundError:
            return False

    def specs(self) -> dict[str, ArgSpec]:
        """Return the arguments."""
        return {name: ArgSpec.parse(text) for name, text in self.args.items()}

    def record(self) -> Trace:
        """Trace it. Raise HeadwayError."""
        return record(self.path(), self.name, self.specs())


def requirements() -> tuple[str, ...]:
    """Return the packages with their versions, as lines for pip."""
    return tuple(f"{package}=={number}" for package, number in VERSIONS.items())


def _tensors(dtype_and_shape: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, dtype_and_shape)


_BLAS, _FFT, _RAND = "trnblas.nki.dispatch", "trnfft.nki.dispatch", "trnrand.nki.dispatch"
_BUTTERFLY, _SOLVER = "trnfft.nki.butterfly", "trnsolver.nki.dispatch"
_SPARSE, _TENSOR = "trnsparse.nki.kernels", "trntensor.nki._kernels"

_PRODUCT = {"a": "float32[512,512]", "b": "float32[512,1024]"}
_VIRTUAL = {"eps_vir_col": "float32[384,1]", "eps_vir_row": "float32[1,384]"}
_COLUMN = "int32[128,1]"
_THREEFRY = _tensors(_COLUMN, *(f"{word}{i}_ref" for word in "ck" for i in range(4)))
_STAGE = {
    **_tensors("float32[16,256]", "x_re", "x_im"),
    **_tensors("float32[512,4]", "tw_re_bcast", "tw_im_bcast"),
    "n": "256",
    "stage": "2",
}
_Q, _K, _ROW = "float32[4,128,64]", "float32[4,3,128,64]", "float32[4,128,1]"
_QUERIES = {"q_scaled_blocks": _Q, "k_gathered_pad": _K}
_ROWS = _tensors(_ROW, "row_max", "row_denom")


def _of(module: str, **kernels: Mapping[str, str]) -> tuple[PackagedKernel, ...]:
    return tuple(PackagedKernel(module, name, args) for name, args in kernels.items())


KERNELS: tuple[PackagedKernel, ...] = (
    *_of(
        _BLAS,
        _gemm_kernel_64_128_128=_PRODUCT,
        _gemm_kernel_64_128_256=_PRODUCT,
        _gemm_kernel_64_128_512=_PRODUCT,
        _gemm_kernel_128_128_128=_PRODUCT,
        _gemm_kernel_128_128_256=_PRODUCT,
        _gemm_kernel_128_128_512=_PRODUCT,
        _syrk_kernel={"a": "float32[512,512]"},
        _mp2_energy_kernel={
            "T_flat": "float32[512,1024]",
            "eps_occ_chunk": "float32[1,2]",
            "eps_occ_full": "float32[1,4]",
            "eps_vir_col": "float32[256,1]",
            "eps_vir_row": "float32[1,256]",
        },
        _fused_gemm_energy_kernel={
            **_tensors("float32[384,512]", "b_i", "b_j"),
            "eps_occ_sum": "float32[1,1]",
            **_VIRTUAL,
        },
        _batched_pair_kernel={
            "B": "float32[3,384,384]",
            "eps_occ_row": "float32[1,3]",
            **_VIRTUAL,
        },
        _j_batched_kernel={
            "b_i": "float32[384,384]",
            "B": "float32[4,384,384]",
            "eps_occ_i": "float32[1,1]",
            "eps_occ_row": "float32[1,4]",
            **_VIRTUAL,
        },
    ),
    *_of(
        _FFT,
        _complex_gemm_kernel={
            **_tensors("float32[512,512]", "a_real", "a_imag"),
            **_tensors("float32[512,1024]", "b_real", "b_imag"),
        },
        _complex_linear_kernel=_tensors("float32[512,512]", "x_real", "x_imag", "w_real", "w_imag"),
        _complex_mul_kernel=_tensors("float32[1024,512]", "a_real", "a_imag", "b_real", "b_imag"),
    ),
    *_of(_BUTTERFLY, butterfly_stage_kernel=_STAGE, butterfly_stage_kernel_kahan=_STAGE),
    *_of(
        _RAND,
        philox4x32_kernel=_tensors(_COLUMN, "counter_lo_ref", "key_lo_ref", "key_hi_ref"),
        box_muller_kernel={"uniforms_ref": "float32[128,2]"},
        threefry4x32_kernel=_THREEFRY,
        threefry_normal_kernel=_THREEFRY,
        sobol_gray_code_kernel={"gray_ref": _COLUMN},
        halton_kernel={"indices_ref": _COLUMN},
    ),
    *_of(
        _SOLVER,
        jacobi_rotation_kernel={
            **_tensors("float32[128,128]", "D_ref", "V_ref"),
            "p": "3",
            "q": "7",
            "c": "0.8",
            "s": "0.6",
            "n": "128",
        },
    ),
    *_of(
        _SPARSE,
        _bsr_spmm_kernel={
            "blocks_pad": "float32[4,3,128,128]",
            "b_gathered": "float32[4,3,128,1024]",
        },
        _spmm_dense_kernel=_PRODUCT,
        _screened_spmm_kernel={**_PRODUCT, "q": "float32[512,1]", "threshold_sqrt": "0.1"},
        _attn_stats_kernel=_QUERIES,
        _attn_out_kernel={**_QUERIES, "v_gathered_pad": _K, **_ROWS},
        _attn_bwd_dq_kernel={
            **_QUERIES,
            **_tensors(_K, "v_gathered_pad", "do_gathered_pad"),
            "D_blocks": _ROW,
            **_ROWS,
        },
        _attn_bwd_dkdv_kernel={
            **_tensors(_Q, "k_blocks", "v_blocks"),
            **_tensors(_K, "q_gathered_col", "do_gathered_col"),
            **_tensors(
                "float32[4,3,128,1]",
                "D_gathered_col",
                "row_max_gathered_col",
                "row_denom_gathered_col",
            ),
        },
    ),
    *_of(
        _TENSOR,
        matmul_kernel=_PRODUCT,
        batched_matmul_kernel={"a": "float32[4,384,384]", "b": "float32[4,384,1024]"},
        mp2_energy_kernel={
            "B": "float32[4,128,128]",
            "eps_occ": "float32[4,1]",
            "eps_vir": "float32[128,1]",
        },
        ao_to_mo_transform_kernel={
            "eri": "float32[384,384,8]",
            "C_occ": "float32[384,64]",
            "C_vir": "float32[384,128]",
        },
    ),
)
