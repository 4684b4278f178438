"""What torch's operators do: multiply matrices, make and move values, or compute."""

from __future__ import annotations

GEMM = frozenset(
    "mm addmm bmm baddbmm addbmm matmul linear mv addmv einsum dot vdot".split()  # noqa: SIM905 (a list of words)
)
ADDING = frozenset(("addmm", "baddbmm", "addbmm", "addmv"))  # products that add something in the same call
# They make, view, copy, convert or reorder values: each that comes out went in, or is a constant.
MOVING = frozenset(
    "empty empty_like empty_strided new_empty new_empty_strided zeros zeros_like new_zeros ones ones_like "  # noqa: SIM905 (a list of words)
    "new_ones full full_like new_full fill_ fill zero_ zero resize_ resize_as_ set_ arange randn rand "
    "normal_ uniform_ view view_as _unsafe_view reshape _reshape_alias flatten unflatten ravel t "
    "transpose permute movedim swapaxes mT numpy_T matrix_H squeeze squeeze_ unsqueeze expand expand_as "
    "broadcast_to broadcast_tensors as_strided select slice narrow unbind split split_with_sizes "
    "tensor_split chunk unfold alias view_as_real cat concat stack tile repeat constant_pad_nd pad clone "
    "contiguous copy_ _copy_from to _to_copy lift lift_fresh detach detach_ requires_grad_ record_stream "
    "resolve_conj resolve_neg flip fliplr flipud roll rot90".split()
)
# Those of them that write each value to another place. Where to reorder is the work, this is what does it.
COPYING = frozenset(
    "cat concat stack tile repeat clone copy_ _copy_from _to_copy flip fliplr flipud roll rot90".split()  # noqa: SIM905
)
# They look at values or at forms.
LOOKING = frozenset(
    "result_type stride size sym_size is_contiguous is_nonzero item _local_scalar_dense eq ne lt le "  # noqa: SIM905 (a list of words)
    "gt ge isnan isfinite isinf all any equal allclose isclose _has_compatible_shallow_copy_type".split()
)
