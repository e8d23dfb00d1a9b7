#include "bcos/libtorch.h"
#include "bcos/text.hpp"
#include "libtorch/errors.hpp"

namespace bcos::libtorch {
namespace {

const Method& base_method(const BCOSOptions& options) {
  const bool w = options.decoupled();
  TORCH_CHECK(!options.simple() || options.mode() == "c", "Invalid simple: mode '", options.mode(),
              "' has no simple form, only mode 'c' has");
  if (options.mode() == "c" && options.simple()) return w ? bcosw_c_simple : bcos_c_simple;
  if (options.mode() == "c") return w ? bcosw_c : bcos_c;
  if (options.mode() == "m") return w ? bcosw_m : bcos_m;
  TORCH_CHECK(options.mode() == "g", "Invalid mode: '", options.mode(), "', expected c, m or g");
  return w ? bcosw_g : bcos_g;
}

Start start_of(const std::string& name) {
  if (name == "first") return Start::first;
  if (name == "zero") return Start::zero;
  TORCH_CHECK(name == "zero_corrected", "Invalid start: '", name,
              "', expected first, zero or zero_corrected");
  return Start::zero_corrected;
}

BlockGain gain_of(const std::string& name) {
  TORCH_CHECK(name == "one" || name == "sqrt", "Invalid block_gain: '", name,
              "', expected one or sqrt");
  return name == "one" ? BlockGain::one : BlockGain::sqrt;
}

}  // namespace

BCOSOptions::BCOSOptions(double lr) : lr_(lr) {}

Method BCOSOptions::method() const {
  Method base = base_method(*this);
  MethodOptions options;
  const bool full = mode() == "c" && !simple();
  TORCH_CHECK(!full || !beta_v(), "Invalid beta_v: ", beta_v().value_or(0),
              ", the full estimator of mode 'c' has no second beta; simple(true) makes it AdamS's");
  if (simple() && beta_v()) base.estimator = Estimator::cond_free;
  if (base.direction == Direction::momentum) options.beta = beta();
  if (numbers_used(base).beta_v) options.beta_v = beta_v().value_or(beta());
  options.eps = eps();
  options.eps_root = eps_root();
  options.lambda = weight_decay();
  options.block_gain = gain_of(block_gain());
  if (!start().empty()) options.start = start_of(start());
  return translated([&] {
    options.blocks = blocks_from_name(blocks());
    return with(base, options);
  });
}

double BCOSOptions::get_lr() const { return lr(); }
void BCOSOptions::set_lr(double lr) { this->lr(lr); }

bool operator==(const BCOSOptions& one, const BCOSOptions& other) {
  return one.lr() == other.lr() && one.max_norm() == other.max_norm() &&
         one.guard() == other.guard() && one.maximize() == other.maximize() &&
         one.method() == other.method();
}

void BCOSOptions::serialize(torch::serialize::OutputArchive& archive) const {
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(lr);
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(beta);
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(mode);
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(simple);
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(beta_v);
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(eps);
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(eps_root);
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(weight_decay);
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(decoupled);
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(blocks);
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(block_gain);
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(start);
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(maximize);
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(max_norm);
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(guard);
}

void BCOSOptions::serialize(torch::serialize::InputArchive& archive) {
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(double, lr);
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(double, beta);
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(std::string, mode);
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(bool, simple);
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_OPTIONAL(double, beta_v);
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_OPTIONAL(double, eps);
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_OPTIONAL(double, eps_root);
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(double, weight_decay);
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(bool, decoupled);
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(std::string, blocks);
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(std::string, block_gain);
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(std::string, start);
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(bool, maximize);
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_OPTIONAL(double, max_norm);
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(std::string, guard);
}

bool operator==(const BCOSParamState& one, const BCOSParamState& other) {
  const auto same = [](const torch::Tensor& a, const torch::Tensor& b) {
    return a.defined() == b.defined() && (!a.defined() || torch::equal(a, b));
  };
  return one.step() == other.step() && same(one.m(), other.m()) && same(one.v(), other.v());
}

void BCOSParamState::serialize(torch::serialize::OutputArchive& archive) const {
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(step);
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(m);
  _TORCH_OPTIM_SERIALIZE_TORCH_ARG(v);
}

void BCOSParamState::serialize(torch::serialize::InputArchive& archive) {
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(int64_t, step);
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(torch::Tensor, m);
  _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(torch::Tensor, v);
}

}  // namespace bcos::libtorch
