"""The names that public kernels use, by how many kernels use them: all of them are known."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernel_files import recorded

from headway.frontends.nki.standins import modules

NEW = """
nl.ndarray nki.jit nisa.dma_copy nisa.tensor_copy nl.add nisa.nc_matmul nl.multiply
nisa.tensor_tensor nl.affine_range nisa.memset nisa.tensor_scalar nisa.activation
nisa.nc_transpose nl.subtract nl.maximum nl.program_id nl.exp nl.num_programs nisa.tensor_reduce
nl.sequential_range nl.ds nl.load nisa.nc_stream_shuffle nl.store nl.program_ndim nl.zeros nl.copy
nl.static_range nisa.dma_transpose nl.load_transpose2d nisa.sendrecv nisa.scalar_tensor_tensor
nisa.reciprocal nisa.iota nisa.nc_matmul_mx nisa.core_barrier nisa.quantize_mx nisa.get_nc_version
nisa.tensor_tensor_scan nl.shared_identity_matrix nki.dtype nisa.activation_reduce nl.reciprocal
nisa.dma_compute nl.full nl.broadcast_to nl.sum nisa.nc_find_index8 nisa.register_load
nisa.register_alloc collectives.ReplicaGroup nl.log nl.greater nisa.max8 nisa.tensor_scalar_reduce
nl.sin nisa.tensor_copy_predicated nl.bitwise_and nl.right_shift nl.bitwise_xor nisa.affine_select
collectives.all_gather nl.sqrt nisa.nonzero_with_count nl.minimum nl.rsqrt nl.square nl.silu
nl.less nl.less_equal nl.greater_equal nl.equal nl.where nl.max nl.divide nl.negative nl.gelu
nl.gelu_apprx_tanh nl.gelu_apprx_sigmoid nl.silu_dx nl.abs nl.logical_and nl.matmul nl.par_dim
nl.NKIObject nl.shared_constant nl.dynamic_range nl.fori_loop nl.while_loop nl.arange
nisa.nc_n_gather nisa.local_gather nisa.range_select nisa.bn_stats nisa.bn_aggr
nisa.nc_match_replace8 nisa.tensor_partition_reduce nisa.select_reduce nisa.register_move
nisa.register_store nisa.dma_engine nisa.matmul_perf_mode collectives.all_reduce
collectives.reduce_scatter collectives.all_to_all collectives.collective_permute_implicit
collectives.rank_id
"""
OLD = """
nl.store nl.ndarray nl.load nki.jit nl.affine_range nl.arange nl.zeros nl.par_dim nl.copy
nl.multiply nl.add nisa.nc_matmul nl.mgrid nisa.activation nisa.nc_transpose nisa.tensor_reduce
nl.sequential_range nisa.tensor_scalar nl.exp nl.matmul nl.program_id nisa.memset
nisa.tensor_tensor nl.ds nl.max nl.load_transpose2d nisa.tensor_copy nl.sum nl.static_range
nisa.reciprocal nl.maximum nl.shared_constant nl.num_programs nisa.dma_copy nl.full nl.subtract
nisa.activation_reduce nisa.iota nisa.affine_select nl.rsqrt nl.square
compiler.skip_middle_end_transformations nl.program_ndim nl.silu nl.loop_reduce
nisa.tensor_scalar_reduce nl.where nisa.dma_transpose nl.divide nisa.tensor_tensor_scan
compiler.psum compiler.sbuf nl.ones nl.transpose nisa.max8 nl.all_reduce nl.log
nisa.get_nc_version nl.constants nisa._tiled_offloaded_fma nisa.nc_match_replace8
nisa.scalar_tensor_tensor nl.abs nisa._tiled_offloaded_memcpy nisa.tensor_scalar_cumulative
nki.benchmark nki.baremetal nki.trace nki.profile nki.simulate_kernel typing.tensor
typing.mutable_tensor nl.static_cast nl.nc nl.spmd_dim nisa.vector_engine nisa.reduce_cmd
compiler.enable_stack_allocator compiler.no_reorder compiler.multi_buffer nl.broadcast_to nl.mean
nl.minimum nl.random_seed nl.dropout nl.equal nl.sqrt nisa.tensor_copy_predicated nl.softmax
nl.bitwise_and nl.bitwise_or nl.invert nl.left_shift nl.right_shift nisa.bn_aggr nisa.bn_stats
nl.fp32 nisa.tensor_partition_reduce nl.min nl.floor nl.mod nl.finfo nl.rms_norm nl.silu_dx
nl.shared_identity_matrix nisa.select_reduce nisa.nc_find_index8 nl.sigmoid nisa.local_gather
nisa.range_select nisa.sequence_bounds nisa.tensor_copy_dynamic_src nisa.tensor_copy_dynamic_dst
nl.gather_flattened nl.atomic_rmw nl.expand_dims nki.tensor
"""
MODULES = {"nl": "language", "nisa": "isa"}


def missing(root: str, names: str) -> list[str]:
    """Return the names of a survey that the stand-ins do not have."""
    found = modules()
    absent: list[str] = []
    for name in names.split():
        part, _, last = name.partition(".")
        module = found[root if part == "nki" else f"{root}.{MODULES.get(part, part)}"]
        if last not in vars(module):
            absent.append(name)
    return absent


@pytest.mark.parametrize(
    ("root", "names", "least"),
    [("nki", NEW, 85), ("neuronxcc.nki", OLD, 93)],
    ids=["new", "old"],
)
def test_every_name_of_the_survey_is_known(root: str, names: str, least: int) -> None:
    assert len(set(names.split())) >= least
    assert missing(root, names) == []


def test_the_survey_notices_a_name_that_is_missing() -> None:
    assert missing("nki", "nl.add nl.no_such_thing") == ["nl.no_such_thing"]


def test_constants_survive_asdict_and_copies(tmp_path: Path) -> None:
    """Settings of kernels are dataclasses that hold types, memories and engines."""
    body = """
        import copy
        from dataclasses import asdict, dataclass

        @dataclass
        class Settings:
            dtype: object
            memory: object
            engine: object

        made = Settings(nl.float8_e4m3fn, nl.sbuf, nisa.engine.vector)
        assert asdict(made) == vars(made) == vars(copy.deepcopy(made))
        assert {asdict(made)["dtype"]: 1}[nl.float8_e4m3fn] == 1
        assert nl.hbm != nl.shared_hbm
        assert np.dtype(nl.float8_e4m3fn).itemsize == 1
        assert np.dtype(nl.float8_e4m3fn_x4).itemsize == 4
        return nl.load(x)
    """
    assert recorded(tmp_path, body, {"x": "float32[128,4]"}).recorded_operations == 1
