// What nearly every extension uses of torch/types.h, for a third of its compile time. Factories that a
// source names beyond these are added to it one by one (headers.py).
#pragma once
#include <ATen/Dispatch.h>
#include <ATen/TensorAccessor.h>
#include <ATen/TensorOperators.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <iostream>
#include <string>
#include <tuple>
#include <vector>

namespace torch {
using namespace at;
using c10::nullopt;
using std::optional;
using Dtype = at::ScalarType;
constexpr auto kFloat16 = at::kHalf, kFloat32 = at::kFloat, kFloat64 = at::kDouble;
constexpr auto kInt8 = at::kChar, kInt16 = at::kShort, kInt32 = at::kInt, kInt64 = at::kLong,
               kUInt8 = at::kByte;
}  // namespace torch
