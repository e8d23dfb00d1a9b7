#include "lab/data/random.hpp"

#include <algorithm>
#include <bit>

#include "engine/error.hpp"
#include "lab/numbers/philox.hpp"

namespace bcos::lab::data {
namespace {

constexpr int kStepBits = 44;
constexpr int kPartBits = 16;

constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

/// A bijection of 64 bits in which every bit of the input moves every bit of the output
/// (SplitMix64's).
constexpr std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

std::uint64_t stream_of(Draw draw, std::uint64_t step, std::uint64_t part) {
  if (step >> kStepBits != 0 || part >> kPartBits != 0) {
    throw fail("random", "expected a step below 2^{} and a part below 2^{} but received {} and {}",
               kStepBits, kPartBits, step, part);
  }
  return static_cast<std::uint64_t>(draw) << (kStepBits + kPartBits) | part << kStepBits | step;
}

Random::Random(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter)
    : seed_(seed), stream_(stream), counter_(counter) {}

std::uint64_t Random::next() {
  const bool second = (counter_ & 1) != 0;
  if (!second || !block_is_current_) {
    const std::uint64_t index = counter_ / 2;
    const auto words = numbers::philox({low(index), high(index), low(stream_), high(stream_)},
                                       {low(seed_), high(seed_)});
    block_ = {words[0] | std::uint64_t{words[1]} << 32, words[2] | std::uint64_t{words[3]} << 32};
    block_is_current_ = true;
  }
  ++counter_;
  return block_[second ? 1 : 0];
}

std::uint64_t Random::below(std::uint64_t n) {
  if (n == 0) throw fail("random", "expected n >= 1 but received 0");
  // 2^64 mod n of the values would come up once too often.
  const std::uint64_t surplus = (0 - n) % n;
  std::uint64_t value = next();
  while (value < surplus) value = next();
  return value % n;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

std::uint64_t permuted(std::uint64_t i, std::uint64_t n, std::uint64_t key) {
  if (i >= n || n > std::uint64_t{1} << 62) {
    throw fail("permuted", "expected i < n <= 2^62 but received i = {}, n = {}", i, n);
  }
  const int half_bits = std::max(1, (static_cast<int>(std::bit_width(n - 1)) + 1) / 2);
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  constexpr std::uint64_t kRounds = 8;
  // A Feistel network permutes 4^half_bits >= n values; walking its cycle from a value below n
  // always comes back below n.
  do {
    std::uint64_t left = i >> half_bits;
    std::uint64_t right = i & mask;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t salt = mixed(key + (round + 1) * 0x9e3779b97f4a7c15);
      const std::uint64_t next = left ^ (mixed(right ^ salt) & mask);
      left = right;
      right = next;
    }
    i = left << half_bits | right;
  } while (i >= n);
  return i;
}

}  // namespace bcos::lab::data
