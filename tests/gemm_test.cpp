#include "core/gemm.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/random.h"
#include "core/small_gemm.h"
#include "core/transposed.h"

using namespace tapestry;
using namespace tapestry::core;

namespace {

// Compares both products with the definition, in rows with gaps that nobody may write to. With `biased` they are put
// onto a row, else onto beta C.
template <class T>
void check_product(Transpose ta, Transpose tb, Index m, Index n, Index k, T beta, bool biased = false) {
  Random random(static_cast<std::uint64_t>(m * 10007 + n * 101 + k));
  const Index lda = (ta == Transpose::yes ? m : k) + 2, ldb = (tb == Transpose::yes ? k : n) + 1, ldc = n + 3;
  const auto fill = [&](Index rows, Index ld) {
    std::vector<T> x(static_cast<std::size_t>(rows * ld));
    for (T& value : x) value = static_cast<T>(random.uniform(-1, 1));
    return x;
  };
  const auto a = fill(ta == Transpose::yes ? k : m, lda), b = fill(tb == Transpose::yes ? n : k, ldb), c = fill(m, ldc);
  const auto bias = fill(1, n);
  std::vector<T> expected = c;
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      double sum = 0;
      for (Index p = 0; p < k; ++p) {
        const T x = a[static_cast<std::size_t>(ta == Transpose::yes ? p * lda + i : i * lda + p)];
        const T y = b[static_cast<std::size_t>(tb == Transpose::yes ? j * ldb + p : p * ldb + j)];
        sum += static_cast<double>(x) * static_cast<double>(y);
      }
      T& to = expected[static_cast<std::size_t>(i * ldc + j)];
      const T first = biased ? bias[static_cast<std::size_t>(j)] : beta != 0 ? beta * to : T{0};
      to = static_cast<T>(sum + static_cast<double>(first));
    }
  }
  const auto check = [&](std::vector<T> result) {
    double worst = 0, gaps = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const double difference = std::abs(static_cast<double>(result[i] - expected[i]));
      double& largest = static_cast<Index>(i) % ldc < n ? worst : gaps;
      if (!(difference <= largest)) largest = difference;  // NaN too
    }
    CHECK(gaps == 0);
    CHECK(worst <= (sizeof(T) == 4 ? 1e-6 : 1e-15) * static_cast<double>(k + 2));
  };
  std::vector<T> result = c;
  if (beta == 0)
    for (Index i = 0; i < m; ++i)
      result[static_cast<std::size_t>(i * ldc)] = std::nanf("");  // is overwritten, not scaled
  std::vector<T> by_small = result, by_packed = result;
  const Onto<T> onto = biased ? Onto<T>::repeated(bias.data()) : Onto<T>(beta);
  gemm<T>(ta, tb, m, n, k, a.data(), lda, b.data(), ldb, onto, result.data(), ldc);
  check(result);
  if (k == 0) return;
  small_gemm<T>(ta, tb, m, n, k, a.data(), lda, b.data(), ldb, onto, by_small.data(), ldc);
  check(by_small);
  if (ta == Transpose::yes || tb == Transpose::no) return;
  std::vector<T> packed(static_cast<std::size_t>(packed_size<T>(n, k)));
  pack_transposed(n, k, b.data(), ldb, packed.data());
  packed_gemm<T>(m, n, k, a.data(), lda, packed.data(), onto, by_packed.data(), ldc);
  CHECK(by_packed == by_small);
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("products of every size about the tiles, transposed or not, onto what was there or not") {
    for (const Transpose ta : {Transpose::no, Transpose::yes}) {
      for (const Transpose tb : {Transpose::no, Transpose::yes}) {
        for (const Index m : {1, 2, 3, 4, 5, 6, 7, 13}) {
          for (const Index n : {1, 3, 4, 7, 8, 9, 16, 17, 33, 70}) {
            for (const Index k : {0, 1, 2, 19}) {
              check_product<float>(ta, tb, m, n, k, 0, true);
              check_product<double>(ta, tb, m, n, k, 0, true);
              for (const double beta : {0.0, 1.0, -0.5}) {
                check_product<float>(ta, tb, m, n, k, static_cast<float>(beta));
                check_product<double>(ta, tb, m, n, k, beta);
              }
            }
          }
        }
      }
    }
  }

  TEST_CASE("products that neither kernel takes whole: long sums, which are cut, and sizes beyond the small ones") {
    for (const Transpose ta : {Transpose::no, Transpose::yes}) {
      for (const Transpose tb : {Transpose::no, Transpose::yes}) {
        for (const bool biased : {false, true}) {
          check_product<float>(ta, tb, 13, 18, 200, 1, biased);
          check_product<double>(ta, tb, 7, 9, 129, 0, biased);
          check_product<float>(ta, tb, 300, 300, 40, -0.5F, biased);
        }
      }
    }
  }

  TEST_CASE("a matrix transposed by squares of registers, with zeros to the end of the last one") {
    for (const Index rows : {1, 3, 8, 10, 17}) {
      for (const Index columns : {1, 4, 9, 16, 23}) {
        const Index stride = columns + 2, padded = (rows + lanes<float> - 1) / lanes<float> * lanes<float>;
        std::vector<float> from(static_cast<std::size_t>(rows * stride)),
            to(static_cast<std::size_t>(columns * padded), -1);
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i + 1);
        transpose<float>(rows, columns, from.data(), stride, to.data(), padded);
        for (Index j = 0; j < columns; ++j)
          for (Index i = 0; i < padded; ++i)
            REQUIRE(to[static_cast<std::size_t>(j * padded + i)] ==
                    (i < rows ? from[static_cast<std::size_t>(i * stride + j)] : 0));
      }
    }
  }

  TEST_CASE("an element of a small product does not depend on the other rows and columns") {
    Random random(1);
    std::vector<float> a(20 * 30), b(30 * 40), whole(20 * 40), one(1);
    for (float& x : a) x = static_cast<float>(random.uniform(-1, 1));
    for (float& x : b) x = static_cast<float>(random.uniform(-1, 1));
    small_gemm<float>(Transpose::no, Transpose::no, 20, 40, 30, a.data(), 30, b.data(), 40, 0, whole.data(), 40);
    for (Index i = 0; i < 20; ++i) {
      for (Index j = 0; j < 40; ++j) {
        small_gemm<float>(Transpose::no, Transpose::no, 1, 1, 30, a.data() + i * 30, 30, b.data() + j, 40, 0,
                          one.data(), 1);
        REQUIRE(one[0] == whole[static_cast<std::size_t>(i * 40 + j)]);
      }
    }
  }
}
