#include "tests/engine/bits.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bcos/methods.hpp"
#include "bcos/text.hpp"
#include "tests/engine/random_numbers.hpp"
#include "tests/engine/stepper.hpp"

/// tests/golden/bits.json holds a hash of x and all states after three steps for methods, starts,
/// blocks, types and gradients. A change of any bit of any of them shows here.
/// After a change that is meant: BCOS_WRITE_BITS=1 build/bcos_engine_tests --gtest_filter='Bits.*'
namespace bcos::testing {
namespace {

using nlohmann::ordered_json;

struct Named {
  std::string name;
  Method method;
};

std::vector<Named> every_method() {
  std::vector<Named> all;
  for (const NamedMethod& named : named_methods())
    all.push_back({std::string(named.id), *named.method});
  const auto add = [&](const char* name, Method base, const auto& change) {
    change(base);
    all.push_back({name, base});
  };
  add("bcosw_m two_est", bcosw_m, [](Method& m) { m.rule = StepRule::two_est; });
  add("bcosw_g two_est", bcosw_g, [](Method& m) { m.rule = StepRule::two_est; });
  add("bcosw_c inv", bcosw_c, [](Method& m) { m.rule = StepRule::inv; });
  add("sign_sgd inv", sign_sgd, [](Method& m) { m.rule = StepRule::inv, m.eps_root = 1e-3; });
  add("bcosw_c beta 0", bcosw_c, [](Method& m) { m.beta = 0; });
  add("bcosw_c eps", bcosw_c, [](Method& m) { m.eps = 1e-6, m.eps_root = 0; });
  add("bcosw_c bare", bcosw_c, [](Method& m) { m.eps_root = 0; });
  add("bcosw_m bare", bcosw_m, [](Method& m) { m.eps_root = 0; });
  add("adamw of the gradient", adamw, [](Method& m) { m.direction = Direction::gradient; });
  add("bcosw_c sqrt gain", bcosw_c, [](Method& m) { m.block_gain = BlockGain::sqrt; });
  add("oracle", bcosw_c, [](Method& m) { m.estimator = Estimator::oracle; });
  for (Named& named : all) {
    if (named.method.decay == Decay::coupled) named.method.lambda = 0.1;
  }
  return all;
}

struct Begin {
  const char* name;
  Start start;
  CoupledStart coupled = CoupledStart::with_decay;
  bool on_first_nonzero = false;
};
constexpr Begin kBegins[] = {{"first", Start::first},
                             {"first raw", Start::first, CoupledStart::raw},
                             {"first nonzero", Start::first, CoupledStart::with_decay, true},
                             {"zero", Start::zero},
                             {"zero corrected", Start::zero_corrected}};

const std::vector<std::int64_t> kShape = {9, 37};
constexpr std::size_t kSize = 9 * 37;

std::vector<std::pair<std::string, Blocks>> every_blocks() {
  IndexLists lists(4);
  for (std::uint64_t i = 0; i < kSize; ++i) lists[i * i % 4].push_back(i);
  std::erase_if(lists, [](const auto& list) { return list.empty(); });
  std::vector<std::pair<std::string, Blocks>> all;
  for (const char* name : {"coordinate", "tensor", "row", "column"}) {
    all.emplace_back(name, blocks_from_name(name));
  }
  all.emplace_back("lists", Blocks::of_lists(lists));
  return all;
}

/// FNV-1a over the bits, with one NaN for all.
template <class T>
std::uint64_t hash_of(const std::vector<T>& values) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const T value : values) {
    const std::uint64_t bits = std::isnan(value) ? 1 : bits_of(value);
    for (int byte = 0; byte < 8; ++byte) {
      hash = (hash ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3;
    }
  }
  return hash;
}

enum class Gradients { mild, limited, wild };

template <class T>
std::string hash_of_steps(const Method& method, Gradients gradients) {
  Random random(7);
  Stepper<T> stepper(method, random.numbers<T>(kSize), kShape, {.target = Target::scalar});
  std::vector<T> oracle = random.numbers<T>(kSize);
  for (T& value : oracle) value = std::abs(value) + T(0.5);
  StepOptions options;
  if (gradients == Gradients::limited) options = {.grad_scale = 3, .max_norm = 0.7};
  for (int t = 0; t < 3; ++t) {
    const int range = sizeof(T) == 4 ? 120 : 1000;
    auto g = gradients == Gradients::wild ? random.wild_numbers<T>(kSize, range)
                                          : random.wild_numbers<T>(kSize, 2);
    // Some weights get their first gradient later than others.
    for (std::size_t i = 0; t == 0 && i < kSize; i += 5) g[i] = 0;
    stepper.step_with({.data = g.data(), .oracle = oracle.data()}, 0.01, options);
  }
  return fmt::format("{:08x}", hash_of(stepper.everything()) >> 32);
}

std::string hashes(const Method& method) {
  std::string all;
  for (const Gradients g : {Gradients::mild, Gradients::limited, Gradients::wild}) {
    all += hash_of_steps<float>(method, g) + ' ' + hash_of_steps<double>(method, g) + ' ';
  }
  all.pop_back();
  return all;
}

TEST(Bits, AreThoseOfEarlierVersions) {
  const bool writing = std::getenv("BCOS_WRITE_BITS") != nullptr;
  ordered_json known;
  if (!writing) known = ordered_json::parse(std::ifstream(BCOS_GOLDEN_BITS));
  ordered_json found;
  for (const auto& [blocks_name, blocks] : every_blocks()) {
    for (const Named& named : every_method()) {
      for (const Begin& begin : kBegins) {
        Method method = named.method;
        method.start = begin.start;
        method.coupled_start = begin.coupled;
        method.init_on_first_nonzero = begin.on_first_nonzero;
        method.blocks = blocks;
        const std::string key = fmt::format("{}, {}, {}", blocks_name, named.name, begin.name);
        found[key] = hashes(method);
        if (!writing) {
          EXPECT_EQ(known.value(key, "nothing"), found[key].get<std::string>()) << key;
        }
      }
    }
  }
  EXPECT_TRUE(writing || known.size() == found.size());
  if (writing) std::ofstream(BCOS_GOLDEN_BITS) << found.dump(0) << '\n';
}

}  // namespace
}  // namespace bcos::testing
