#include "lab/commands/check/bits.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <span>

#include "bcos/methods.hpp"
#include "bcos/safetensors.hpp"
#include "bcos/update.hpp"

namespace bcos::lab::commands {
namespace {

struct Size {
  std::int64_t rows;
  std::int64_t columns;
  std::uint64_t steps;

  std::uint64_t elements() const { return static_cast<std::uint64_t>(rows * columns); }
};
constexpr Size kSmall{37, 29, 25};
/// Crosses chunks of sums, tasks, and what is worth threads.
constexpr Size kLarge{601, 500, 3};
constexpr std::uint64_t kLists = 11;

/// splitmix64: a number for every position, from whole numbers alone.
std::uint64_t mixed(std::uint64_t position) {
  std::uint64_t z = (position + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

/// A signed number of 21 bits times 2^-20 to 2^-35: exact in float32 and float64.
double spread(std::uint64_t random) {
  const auto whole = static_cast<std::int64_t>(random & 0x1FFFFF) - 0x100000;
  const auto power = static_cast<int>(random >> 60);
  return std::ldexp(static_cast<double>(whole), -20 - power);
}

double parameter_at(std::uint64_t i) { return spread(mixed(i)); }

/// One gradient in sixteen is zero, and the fourth row has none before the third step.
double gradient_at(const Size& size, std::uint64_t t, std::uint64_t i) {
  const std::uint64_t random = mixed((t + 1) * size.elements() + i);
  const bool late = i / static_cast<std::uint64_t>(size.columns) == 3 && t < 2;
  return late || (random >> 32) % 16 == 0 ? 0.0 : spread(random);
}

double alpha_at(std::uint64_t t) { return std::ldexp(static_cast<double>(1 + t % 5), -8); }

struct NamedBlocks {
  std::string name;
  Blocks blocks;
};

std::vector<NamedBlocks> layouts() {
  std::vector<NamedBlocks> all;
  for (const Blocks& blocks :
       {Blocks::of(Layout::coordinate), Blocks::of(Layout::tensor), Blocks::of(Layout::row),
        Blocks::of(Layout::column), Blocks::of_heads(kSmall.rows)}) {
    all.push_back({blocks_name(blocks), blocks});
  }
  IndexLists lists(kLists);
  for (std::uint64_t i = 0; i < kSmall.elements(); ++i) lists[mixed(i) % kLists].push_back(i);
  all.push_back({"lists", Blocks::of_lists(std::move(lists))});
  return all;
}

template <class T>
class Run {
 public:
  Run(const Method& method, const PlanOptions& options, const Size& size)
      : size_(size),
        shape_{size.rows, size.columns},
        count_{static_cast<std::int64_t>(block_count(method.blocks, shape_))},
        x_(size.elements()),
        g_(size.elements()) {
    const StateKinds kinds = state_kinds(method);
    if (kinds.m) m_.resize(size.elements());
    if (kinds.u) u_.resize(size.elements());
    if (kinds.v) v_.resize(static_cast<std::size_t>(count_[0]));
    for (std::uint64_t i = 0; i < size.elements(); ++i) x_[i] = static_cast<T>(parameter_at(i));
    const Parameter parameter{view(x_, shape_), view(m_, shape_), view(v_, count_),
                              view(u_, shape_)};
    Plan plan({&method, 1}, {&parameter, 1}, options);
    for (std::uint64_t t = 0; t < size.steps; ++t) step(plan, t);
  }

  std::uint32_t crc() const {
    std::uint32_t crc = 0;
    for (const auto* values : {&x_, &m_, &v_, &u_}) {
      crc = safetensors::crc32c(std::as_bytes(std::span(*values)), crc);
    }
    return crc;
  }

 private:
  static TensorView view(std::vector<T>& values, Dims shape) {
    if (values.empty()) return {};
    return {values.data(), sizeof(T) == 4 ? DType::f32 : DType::f64, shape, {}};
  }

  void step(Plan& plan, std::uint64_t t) {
    for (std::uint64_t i = 0; i < size_.elements(); ++i) {
      g_[i] = static_cast<T>(gradient_at(size_, t, i));
    }
    const Gradient gradient{.data = g_.data()};
    const double alpha = alpha_at(t);
    StepOptions options;
    if (t % 5 == 4 || t + 1 == size_.steps)
      options.max_norm = 0.5;  // the norm is a sum whose order matters too
    plan.update({&gradient, 1}, {&alpha, 1}, {&steps_, 1}, options);
  }

  Size size_;
  std::int64_t shape_[2];
  std::int64_t count_[1];
  std::vector<T> x_, m_, v_, u_, g_;
  std::uint64_t steps_ = 0;
};

}  // namespace

std::vector<std::string> bits_lines(Target target, const Executor& executor) {
  const PlanOptions options{executor, target};
  std::vector<std::string> names;
  for (const NamedMethod& named : named_methods()) names.emplace_back(named.id);
  names.emplace_back("bcosw_c@paper");

  std::vector<std::string> lines;
  const auto add = [&](const std::string& name, const std::string& layout, const Method& method,
                       const Size& size) {
    const std::uint32_t f32 = Run<float>(method, options, size).crc();
    const std::uint32_t f64 = Run<double>(method, options, size).crc();
    lines.push_back(fmt::format("{} {} float32 {:08x}", name, layout, f32));
    lines.push_back(fmt::format("{} {} float64 {:08x}", name, layout, f64));
  };
  for (const std::string& name : names) {
    for (const auto& [layout, blocks] : layouts()) {
      add(name, layout, with(method_by_name(name), {.blocks = blocks}), kSmall);
    }
  }
  for (const auto& [name, rule] :
       {std::pair{"two_est", StepRule::two_est}, std::pair{"inv", StepRule::inv}}) {
    Method method = bcosw_m;
    method.rule = rule;
    method.eps_root = 0x1p-10;
    add(name, "coordinate", method, kSmall);
  }
  Method late = method_by_name("bcosw_m@paper");
  late.init_on_first_nonzero = true;
  add("init_on_first_nonzero", "coordinate", late, kSmall);
  for (const char* name : {"bcosw_c", "bcosw_m", "adamw"}) {
    for (const Layout layout : {Layout::coordinate, Layout::tensor, Layout::row}) {
      const Blocks blocks = Blocks::of(layout);
      add(name, "large " + blocks_name(blocks), with(method_by_name(name), {.blocks = blocks}),
          kLarge);
    }
  }
  return lines;
}

}  // namespace bcos::lab::commands
