#include "tools/position_tables.h"

#include <cmath>

namespace tapestry {

Tensor position_rotation(Index width, Index distance) {
  const Tensor map = Tensor::zeros({width, width}, DType::f64);
  for (Index i = 0; i + 1 < width; i += 2) {
    const double angle =
        static_cast<double>(distance) / std::pow(10000, static_cast<double>(i) / static_cast<double>(width));
    const double s = std::sin(angle), c = std::cos(angle);
    map.set(i * width + i, c);  // sin(a + b) = cos b sin a + sin b cos a
    map.set(i * width + i + 1, s);
    map.set((i + 1) * width + i, -s);  // cos(a + b) = -sin b sin a + cos b cos a
    map.set((i + 1) * width + i + 1, c);
  }
  return map;
}

Tensor binary_codes(Index positions, Index bits) {
  const Tensor codes = Tensor::empty({positions, bits}, DType::f64);
  for (Index p = 0; p < positions; ++p)
    for (Index i = 0; i < bits; ++i) codes.set(p * bits + i, static_cast<double>(p >> i & 1));
  return codes;
}

Tensor row_products(const Tensor& x) {
  const Index n = x.size(0), width = x.size(1);
  const Tensor products = Tensor::empty({n, n}, DType::f64);
  for (Index a = 0; a < n; ++a)
    for (Index b = 0; b < n; ++b) {
      double sum = 0;
      for (Index i = 0; i < width; ++i) sum += x.at(a * width + i) * x.at(b * width + i);
      products.set(a * n + b, 2 * sum / static_cast<double>(width));
    }
  return products;
}

}  // namespace tapestry
