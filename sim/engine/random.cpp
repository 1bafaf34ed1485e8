#include "sim/engine/random.h"

#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

namespace sim {
namespace {

constexpr std::uint64_t kGamma = 0x9e3779b97f4a7c15;

// One step of splitmix64 from `state`: the output only.
std::uint64_t splitmix(std::uint64_t state) {
  std::uint64_t z = state + kGamma;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// ln 2 in two parts. The high one ends in 21 zero bits, so its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42fee00000p-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
constexpr double kInverseSqrt2 = 0x1.6a09e667f3bcdp-1;

}  // namespace

Random::Random(std::uint64_t seed, std::string_view stream, std::uint64_t index) : state_{} {
  // Mixed first, or "a" under one seed would be "b" under another.
  std::uint64_t key = splitmix(seed);
  for (const char c : stream) key = splitmix(key ^ static_cast<unsigned char>(c));
  key = splitmix(key ^ stream.size());
  key = splitmix(key ^ index);
  // Four different inputs of a bijection: at most one word is zero, as the generator needs.
  for (std::uint64_t& word : state_) {
    word = splitmix(key);
    key += kGamma;
  }
}

Random::Random(const std::array<std::uint64_t, 4>& state) : state_(state) {
  assert((state[0] | state[1] | state[2] | state[3]) != 0);
}

std::uint64_t Random::next() {
  auto& s = state_;
  const std::uint64_t result = std::rotl(s[1] * 5, 7) * 9;
  const std::uint64_t shifted = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= shifted;
  s[3] = std::rotl(s[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t bound) {
  assert(bound > 0);
  // 2^64 mod bound values at the low end are one too many for an even share.
  const std::uint64_t surplus = (0 - bound) % bound;
  std::uint64_t value = next();
  while (value < surplus) value = next();
  return value % bound;
}

double Random::open_unit() {
  std::uint64_t bits = next() >> 11;
  while (bits == 0) bits = next() >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

double portable_log(double x) {
  assert(x > 0 && x <= std::numeric_limits<double>::max());
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // [1/2, 1)
  if (m < kInverseSqrt2) {
    m *= 2;
    --exponent;
  }
  // With f = m - 1 and s = f / (2 + f): log m = 2 atanh s = 2s + s·r, r = 2s²/3 + 2s⁴/5 + …; and
  // 2s = f - s·f, so log m = f - s·(f - r), where f is exact and the rounding of s counts less.
  const double f = m - 1;
  const double s = f / (2 + f);
  const double s2 = s * s;  // < 0.0295: eleven terms leave less than 2^-60
  double r = 0;
  for (int k = 11; k >= 1; --k) r = s2 * (r + 2.0 / (2 * k + 1));
  const double e = exponent;
  return e * kLn2High - ((s * (f - r) - e * kLn2Low) - f);
}

double portable_exp(double x) {
  assert(x == x);
  if (x > 709.79) return std::numeric_limits<double>::infinity();
  if (x < -745.14) return 0;
  const double k = std::floor(x * kInverseLn2 + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| <= ln(2)/2, up to rounding
  double sum = 1;
  for (int n = 14; n >= 1; --n) sum = 1 + sum * r / n;
  return std::ldexp(sum, static_cast<int>(k));
}

}  // namespace sim
