# ruff: noqa: E501
"""Right results with too much traffic, and wrong ones."""

MUTANTS = (
    ("no odd column", "float tile[32][33];", "float tile[32][32];"),
    ("one more column still even", "float tile[32][33];", "float tile[32][34];"),
    ("no barrier", "    __syncthreads();\n", ""),
    ("written down a column", "out[(col0 + j) * rows + row0 + x] = tile[x][j]", "out[(col0 + x) * rows + row0 + j] = tile[j][x]"),
    ("read down a column", "if (row0 + j < rows && col0 + x < cols) tile[j][x] = in[(row0 + j) * cols + col0 + x];", "if (row0 + x < rows && col0 + j < cols) tile[x][j] = in[(row0 + x) * cols + col0 + j];"),
    ("edges of the result swapped", "if (col0 + j < cols && row0 + x < rows)", "if (row0 + j < rows && col0 + x < cols)"),
    ("no guard on reading", "if (row0 + j < rows && col0 + x < cols) ", ""),
    ("not transposed inside the tile", "= tile[x][j]", "= tile[j][x]"),
    ("every fourth row", "for (int j = y; j < 32; j += 8)\n        if (row0", "for (int j = y; j < 32; j += 32)\n        if (row0"),
    ("the rest forgotten", "    if (i < n % 4) out[n - 1 - i] = in[n - 1 - i] * in[n - 1 - i];\n", ""),
    ("one float4 too many", "if (i < n / 4) {", "if (i <= n / 4) {"),
    ("one at a time", "if (i < n / 4) {", "for (int k = i; k < n && k >= 0 && false; ++k) {} for (int k = i; k < n; k += gridDim.x * blockDim.x) out[k] = in[k] * in[k];\n    if (false) {"),
    ("a float4 apart", "reinterpret_cast<const float4*>(in)[i];", "reinterpret_cast<const float4*>(in)[i ^ 1];"),
    ("grid too small", "(rows * cols + 1023) / 1024", "rows * cols / 1024"),
    ("registers of a thread, not of a warp", "(warps * 256 * ceil(registers * 32 / 256))", "(threads * registers)"),
    ("the system's KiB forgotten", "(1024 + 128 * ceil(shared_bytes / 128))", "(128 * ceil(shared_bytes / 128) + 1)"),
    ("no limit of blocks", "min(32, 64 // warps,", "min(64 // warps,"),
    ("times added", "max(nbytes / 4240, flops / 66900)", "nbytes / 4240 + flops / 66900"),
)  # fmt: skip
