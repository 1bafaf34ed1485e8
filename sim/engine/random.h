// Seeded random streams.
//
// Every consumer has a stream of its own, named by purpose and index ("think", vCPU 7), so adding
// one consumer moves no other. The generator is xoshiro256** (Blackman and Vigna, "Scrambled linear
// pseudorandom number generators", ACM TOMS 2021), seeded by splitmix64 over seed, name and index.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sim {

class Random {
 public:
  Random(std::uint64_t seed, std::string_view stream, std::uint64_t index = 0);
  // Goes on from a raw state, not all zeros; published test vectors are given this way.
  explicit Random(const std::array<std::uint64_t, 4>& state);

  std::uint64_t next();
  // Uniform in [0, bound), without bias. bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in (0, 1), 53 bits.
  double open_unit();

 private:
  std::array<std::uint64_t, 4> state_;
};

// Natural logarithm (x > 0, finite) and exponential (x not NaN; 0 and infinity out of range) by
// IEEE additions, multiplications and divisions only: the C library's may differ in the last bit
// between machines, and a result must not. Within 2 ulp of the true value for normal results.
double portable_log(double x);
double portable_exp(double x);

}  // namespace sim
