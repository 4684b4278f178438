# ruff: noqa: E501
"""What goes wrong in a tiled product."""

MUTANTS = (
    ("no first barrier", "        __syncthreads();  // the tiles are complete\n", ""),
    ("no second barrier", "        __syncthreads();  // nobody reads these tiles any more\n", ""),
    ("no padding with zeros", "inside && row0 + r < rows ? x[", "row0 + r < rows ? x["),
    ("rows not guarded on load", "inside && row0 + r < rows", "inside"),
    ("columns not guarded on load", "inside && col0 + r < cols", "inside"),
    ("stores not guarded", "if (row >= rows || col >= cols) continue;", ""),
    ("guard lets one more through", "row >= rows || col >= cols", "row > rows || col >= cols"),
    ("last step forgotten", "k0 < inner; k0 += DEEP", "k0 + DEEP <= inner; k0 += DEEP"),
    ("grid rounded down", "(cols + TILE - 1) / TILE, ", "(cols + TILE - 1) / TILE / 2 + 1, "),
    ("grid swapped", "(cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE", "(rows + TILE - 1) / TILE, (cols + TILE - 1) / TILE"),
    ("bias of the row", "bias[col]", "bias[row % cols]"),
    ("fmaxf loses NaN", "(v < 0.0f ? 0.0f : v)", "fmaxf(v, 0.0f)"),
    ("residual inside the ReLU", "const float v = sum[i][j] + bias[col];", "const float v = sum[i][j] + bias[col] + residual[row * cols + col];"),
    ("no residual", " + residual[row * cols + col];", ";"),
    ("half of the block", "for (int i = 0; i < EACH; ++i) a[i] =", "for (int i = 0; i < EACH / 2; ++i) a[i] ="),
    ("weight not transposed", "weight[(col0 + r) * inner + k0 + k]", "weight[(k0 + k) * cols + col0 + r]"),
    ("sums of half precision", "sum[i][j] += a[i] * b[j];", "sum[i][j] = __half2float(__float2half(sum[i][j] + a[i] * b[j]));"),
    ("views as they come", "*t = t->contiguous();", ""),
)  # fmt: skip
