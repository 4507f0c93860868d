#include "core/random.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <cmath>
#include <numbers>

#include "core/error.h"

namespace tapestry::core {
namespace {

// Multipliers and Weyl increments of Philox4x32 (Salmon et al. 2011, section 4.3).
constexpr std::uint64_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
constexpr std::uint32_t weyl0 = 0x9E3779B9, weyl1 = 0xBB67AE85;
constexpr int rounds = 10;

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection that spreads every bit over all.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key) {
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t product0 = multiplier0 * counter[0], product1 = multiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key[0] += weyl0;
    key[1] += weyl1;
  }
  return counter;
}

#if defined(__AVX2__)

// Compilers make shifts and additions of a product with a constant: 2.1 ns a word where this takes 1.0 (GCC 12, Zen 3).
namespace {

struct Product {
  __m256i low, high;
};

// Lane by lane of eight. The processor multiplies every second lane, to 64 bits.
Product multiply(__m256i x, std::uint64_t by) {
  const __m256i factor = _mm256_set1_epi64x(static_cast<long long>(by));
  const __m256i even = _mm256_mul_epu32(x, factor), odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), factor);
  return {_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA),
          _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA)};
}

}  // namespace

void philox(PhiloxLanes& x, PhiloxKey key) {
  constexpr int together = 2;  // registers of each word, of 16 in all
  static_assert(PhiloxLanes::width % (8 * together) == 0);
  for (int first = 0; first < PhiloxLanes::width; first += 8 * together) {
    const auto at = [&](int w, int p) { return reinterpret_cast<__m256i*>(&x.word[w][first + 8 * p]); };
    __m256i word[4][together];
    for (int w = 0; w < 4; ++w)
      for (int p = 0; p < together; ++p) word[w][p] = _mm256_loadu_si256(at(w, p));
    PhiloxKey k = key;
    for (int round = 0; round < rounds; ++round) {
      const __m256i key0 = _mm256_set1_epi32(static_cast<int>(k[0])), key1 = _mm256_set1_epi32(static_cast<int>(k[1]));
      for (int p = 0; p < together; ++p) {
        const Product product0 = multiply(word[0][p], multiplier0), product1 = multiply(word[2][p], multiplier1);
        word[0][p] = _mm256_xor_si256(_mm256_xor_si256(product1.high, word[1][p]), key0);
        word[1][p] = product1.low;
        word[2][p] = _mm256_xor_si256(_mm256_xor_si256(product0.high, word[3][p]), key1);
        word[3][p] = product0.low;
      }
      k[0] += weyl0;
      k[1] += weyl1;
    }
    for (int w = 0; w < 4; ++w)
      for (int p = 0; p < together; ++p) _mm256_storeu_si256(at(w, p), word[w][p]);
  }
}

#else

void philox(PhiloxLanes& x, PhiloxKey key) {
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < PhiloxLanes::width; ++i) {
      const std::uint64_t product0 = multiplier0 * x.word[0][i], product1 = multiplier1 * x.word[2][i];
      x.word[0][i] = static_cast<std::uint32_t>(product1 >> 32) ^ x.word[1][i] ^ key[0];
      x.word[1][i] = static_cast<std::uint32_t>(product1);
      x.word[2][i] = static_cast<std::uint32_t>(product0 >> 32) ^ x.word[3][i] ^ key[1];
      x.word[3][i] = static_cast<std::uint32_t>(product0);
    }
    key[0] += weyl0;
    key[1] += weyl1;
  }
}

#endif

PhiloxKey philox_key(std::uint64_t seed, std::uint64_t stream) {
  // The additions keep small numbers, which seeds and streams are, away from mix(0) = 0.
  const std::uint64_t mixed = mix(mix(seed + 0x9E3779B97F4A7C15) + stream + 0xD1B54A32D192ED03);
  return {static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32)};
}

// The last word of the counter tells these blocks from those of a dropout mask of the same seed and stream, where it is
// the number of an update.
Random::Random(std::uint64_t seed, std::uint64_t stream) : key_(philox_key(seed, stream)) {}

std::uint64_t Random::bits() {
  if (left_ == 0) {
    block_ = philox(
        PhiloxBlock{static_cast<std::uint32_t>(blocks_), static_cast<std::uint32_t>(blocks_ >> 32), 0, 0xFFFFFFFF},
        key_);
    ++blocks_;
    left_ = 2;
  }
  --left_;
  const std::size_t half = left_ == 1 ? 0 : 2;
  return block_[half] | static_cast<std::uint64_t>(block_[half + 1]) << 32;
}

double Random::uniform() {
  return static_cast<double>(bits() >> 11) * 0x1p-53;
}

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));  // 1 - u lies in (0, 1]
  const double angle = 2 * std::numbers::pi * uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

Index Random::below(Index n) {
  require(n >= 1, "random: below(n) needs n >= 1; given {}", n);
  const auto range = static_cast<std::uint64_t>(n);
  // The numbers under the largest multiple of n are evenly spread over the remainders; the few above are drawn again.
  const std::uint64_t excess = (~std::uint64_t{0} % range + 1) % range;
  std::uint64_t draw = bits();
  while (draw > ~std::uint64_t{0} - excess) draw = bits();
  return static_cast<Index>(draw % range);
}

}  // namespace tapestry::core
