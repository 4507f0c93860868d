#pragma once
// The two number types, chosen at run time: the code that trains in f32 is the code that is checked in f64.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/kernel_clock.h"

namespace tapestry {

/// Sizes and positions are signed: differences of them occur everywhere.
using Index = std::int64_t;

enum class DType : std::uint8_t { f32, f64 };

constexpr const char* name(DType dtype) {
  return dtype == DType::f32 ? "f32" : "f64";
}

constexpr std::size_t bytes_of(DType dtype) {
  return dtype == DType::f32 ? 4 : 8;
}

template <class T>
inline constexpr DType dtype_of = std::is_same_v<T, float> ? DType::f32 : DType::f64;

/// Calls f.operator()<T>() with the C++ type of `dtype`: `dispatch(x.dtype(), [&]<class T> { ... })`.
/// This is the only road from a run-time dtype to a kernel template.
template <class F>
decltype(auto) dispatch(DType dtype, F&& f) {
  const core::KernelTimer timer;
  if (dtype == DType::f32) return f.template operator()<float>();
  return f.template operator()<double>();
}

}  // namespace tapestry
