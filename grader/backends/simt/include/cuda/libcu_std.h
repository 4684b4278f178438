// cuda::std: what both sides may use of the standard library, by the names that libcu++ has for it.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <climits>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <ratio>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace cuda::std {

// <cstddef>, <cstdint>, <limits>, <bit>
using ::std::byte, ::std::max_align_t, ::std::nullptr_t, ::std::ptrdiff_t, ::std::size_t, ::std::to_integer;
using ::std::int16_t, ::std::int32_t, ::std::int64_t, ::std::int8_t, ::std::intmax_t, ::std::intptr_t;
using ::std::uint16_t, ::std::uint32_t, ::std::uint64_t, ::std::uint8_t, ::std::uintmax_t, ::std::uintptr_t;
using ::std::float_denorm_style, ::std::float_round_style, ::std::numeric_limits;
using ::std::bit_cast, ::std::bit_ceil, ::std::bit_floor, ::std::bit_width, ::std::countl_one, ::std::countl_zero;
using ::std::countr_one, ::std::countr_zero, ::std::endian, ::std::has_single_bit, ::std::popcount, ::std::rotl, ::std::rotr;
// <cstring>
using ::std::memcmp, ::std::memcpy, ::std::memset, ::std::strlen;
// <array>, <tuple>, <utility>, <optional>, <variant>, <span>, <complex>
using ::std::array, ::std::get, ::std::to_array;
using ::std::apply, ::std::forward_as_tuple, ::std::ignore, ::std::make_from_tuple, ::std::make_tuple, ::std::tie, ::std::tuple;
using ::std::tuple_cat, ::std::tuple_element, ::std::tuple_element_t, ::std::tuple_size, ::std::tuple_size_v;
using ::std::as_const, ::std::cmp_equal, ::std::cmp_greater, ::std::cmp_greater_equal, ::std::cmp_less, ::std::cmp_less_equal;
using ::std::cmp_not_equal, ::std::declval, ::std::exchange, ::std::forward, ::std::in_place, ::std::in_range, ::std::index_sequence;
using ::std::index_sequence_for, ::std::integer_sequence, ::std::make_index_sequence, ::std::make_integer_sequence, ::std::make_pair;
using ::std::move, ::std::move_if_noexcept, ::std::pair, ::std::piecewise_construct, ::std::piecewise_construct_t, ::std::swap;
using ::std::make_optional, ::std::nullopt, ::std::nullopt_t, ::std::optional;
using ::std::get_if, ::std::holds_alternative, ::std::monostate, ::std::variant, ::std::visit;
using ::std::as_bytes, ::std::as_writable_bytes, ::std::dynamic_extent, ::std::span;
using ::std::arg, ::std::complex, ::std::conj, ::std::imag, ::std::norm, ::std::polar, ::std::proj, ::std::real;
// <functional>, <initializer_list>, <iterator>, <numeric>, <algorithm>, <ratio>
using ::std::bit_and, ::std::bit_not, ::std::bit_or, ::std::bit_xor, ::std::divides, ::std::equal_to, ::std::greater;
using ::std::greater_equal, ::std::identity, ::std::invoke, ::std::less, ::std::less_equal, ::std::logical_and, ::std::logical_not;
using ::std::logical_or, ::std::minus, ::std::modulus, ::std::multiplies, ::std::negate, ::std::not_equal_to, ::std::plus;
using ::std::initializer_list;
using ::std::advance, ::std::begin, ::std::cbegin, ::std::cend, ::std::data, ::std::distance, ::std::end, ::std::iterator_traits;
using ::std::make_reverse_iterator, ::std::next, ::std::prev, ::std::reverse_iterator, ::std::size;
using ::std::accumulate, ::std::gcd, ::std::inner_product, ::std::iota, ::std::lcm, ::std::midpoint, ::std::reduce;
using ::std::all_of, ::std::any_of, ::std::clamp, ::std::copy, ::std::copy_n, ::std::count, ::std::count_if, ::std::equal;
using ::std::fill, ::std::fill_n, ::std::find, ::std::find_if, ::std::for_each, ::std::generate, ::std::lower_bound, ::std::max;
using ::std::max_element, ::std::min, ::std::min_element, ::std::minmax, ::std::none_of, ::std::reverse, ::std::rotate;
using ::std::swap_ranges, ::std::transform, ::std::upper_bound;
using ::std::ratio;
// <concepts>, <numbers>
using ::std::constructible_from, ::std::convertible_to, ::std::copyable, ::std::default_initializable, ::std::derived_from;
using ::std::floating_point, ::std::integral, ::std::invocable, ::std::movable, ::std::predicate, ::std::regular, ::std::same_as;
using ::std::semiregular, ::std::signed_integral, ::std::totally_ordered, ::std::unsigned_integral;
namespace numbers = ::std::numbers;
// <cmath>
using ::std::abs, ::std::acos, ::std::acosh, ::std::asin, ::std::asinh, ::std::atan, ::std::atan2, ::std::atanh, ::std::cbrt;
using ::std::ceil, ::std::copysign, ::std::cos, ::std::cosh, ::std::erf, ::std::erfc, ::std::exp, ::std::exp2, ::std::expm1;
using ::std::fabs, ::std::fdim, ::std::floor, ::std::fma, ::std::fmax, ::std::fmin, ::std::fmod, ::std::fpclassify, ::std::frexp;
using ::std::hypot, ::std::ilogb, ::std::isfinite, ::std::isgreater, ::std::isinf, ::std::isless, ::std::isnan, ::std::isnormal;
using ::std::ldexp, ::std::lgamma, ::std::llrint, ::std::llround, ::std::log, ::std::log10, ::std::log1p, ::std::log2, ::std::logb;
using ::std::lrint, ::std::lround, ::std::modf, ::std::nearbyint, ::std::nextafter, ::std::pow, ::std::remainder, ::std::remquo;
using ::std::rint, ::std::round, ::std::scalbn, ::std::signbit, ::std::sin, ::std::sinh, ::std::sqrt, ::std::tan, ::std::tanh;
using ::std::tgamma, ::std::trunc;
// <type_traits>
#define SIMT_TRAIT(NAME) using ::std::NAME, ::std::NAME##_v;
SIMT_TRAIT(alignment_of) SIMT_TRAIT(conjunction) SIMT_TRAIT(disjunction) SIMT_TRAIT(extent) SIMT_TRAIT(has_unique_object_representations)
SIMT_TRAIT(has_virtual_destructor) SIMT_TRAIT(is_abstract) SIMT_TRAIT(is_aggregate) SIMT_TRAIT(is_arithmetic) SIMT_TRAIT(is_array)
SIMT_TRAIT(is_assignable) SIMT_TRAIT(is_base_of) SIMT_TRAIT(is_bounded_array) SIMT_TRAIT(is_class) SIMT_TRAIT(is_compound) SIMT_TRAIT(is_const)
SIMT_TRAIT(is_constructible) SIMT_TRAIT(is_convertible) SIMT_TRAIT(is_copy_assignable) SIMT_TRAIT(is_copy_constructible)
SIMT_TRAIT(is_default_constructible) SIMT_TRAIT(is_destructible) SIMT_TRAIT(is_empty) SIMT_TRAIT(is_enum) SIMT_TRAIT(is_final)
SIMT_TRAIT(is_floating_point) SIMT_TRAIT(is_function) SIMT_TRAIT(is_fundamental) SIMT_TRAIT(is_integral) SIMT_TRAIT(is_invocable)
SIMT_TRAIT(is_invocable_r) SIMT_TRAIT(is_lvalue_reference) SIMT_TRAIT(is_member_pointer) SIMT_TRAIT(is_move_constructible)
SIMT_TRAIT(is_nothrow_constructible) SIMT_TRAIT(is_nothrow_copy_constructible) SIMT_TRAIT(is_nothrow_default_constructible)
SIMT_TRAIT(is_nothrow_move_constructible) SIMT_TRAIT(is_null_pointer) SIMT_TRAIT(is_object) SIMT_TRAIT(is_pointer)
SIMT_TRAIT(is_polymorphic) SIMT_TRAIT(is_reference) SIMT_TRAIT(is_rvalue_reference) SIMT_TRAIT(is_same) SIMT_TRAIT(is_scalar)
SIMT_TRAIT(is_signed) SIMT_TRAIT(is_standard_layout) SIMT_TRAIT(is_trivially_constructible)
SIMT_TRAIT(is_trivially_copyable) SIMT_TRAIT(is_trivially_copy_constructible) SIMT_TRAIT(is_trivially_default_constructible)
SIMT_TRAIT(is_trivially_destructible) SIMT_TRAIT(is_unbounded_array) SIMT_TRAIT(is_union) SIMT_TRAIT(is_unsigned) SIMT_TRAIT(is_void)
SIMT_TRAIT(is_volatile) SIMT_TRAIT(negation) SIMT_TRAIT(rank)
#undef SIMT_TRAIT
#define SIMT_TRAIT(NAME) using ::std::NAME, ::std::NAME##_t;
SIMT_TRAIT(add_const) SIMT_TRAIT(add_cv) SIMT_TRAIT(add_lvalue_reference) SIMT_TRAIT(add_pointer) SIMT_TRAIT(add_rvalue_reference)
SIMT_TRAIT(aligned_storage) SIMT_TRAIT(common_type) SIMT_TRAIT(conditional) SIMT_TRAIT(decay) SIMT_TRAIT(enable_if)
SIMT_TRAIT(invoke_result) SIMT_TRAIT(make_signed) SIMT_TRAIT(make_unsigned) SIMT_TRAIT(remove_all_extents) SIMT_TRAIT(remove_const)
SIMT_TRAIT(remove_cv) SIMT_TRAIT(remove_cvref) SIMT_TRAIT(remove_extent) SIMT_TRAIT(remove_pointer) SIMT_TRAIT(remove_reference)
SIMT_TRAIT(remove_volatile) SIMT_TRAIT(type_identity) SIMT_TRAIT(underlying_type)
#undef SIMT_TRAIT
using ::std::bool_constant, ::std::false_type, ::std::integral_constant, ::std::is_constant_evaluated, ::std::true_type, ::std::void_t;

}  // namespace cuda::std
