#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "bcos/backend.hpp"
#include "libtorch/aten_step.hpp"
#include "libtorch/tensors.hpp"

namespace bcos::libtorch {

/// Tensors that the engine cannot step: on other devices, of 16 bits, complex. Parameter::x.data
/// points to an AtenParameter, Gradient::data to a tensor.
struct AtenParameter {
  at::Tensor x, m, v;
};

class AtenBackend final : public Backend {
 public:
  Place add(const Parameter& parameter, const Method& method, std::string_view) override {
    slots_.push_back({*static_cast<const AtenParameter*>(parameter.x.data), &method});
    const AtenParameter& tensors = slots_.back().tensors;
    std::uint64_t bytes = 3 * tensors.x.nbytes();
    for (const at::Tensor& state : {tensors.m, tensors.v}) {
      if (state.defined()) bytes += 2 * state.nbytes();
    }
    return {slots_.size() - 1, bytes};
  }
  void move(std::size_t slot, const Parameter& parameter) override {
    slots_[slot].tensors = *static_cast<const AtenParameter*>(parameter.x.data);
  }
  void bind(std::span<const Item>) override {}
  void squares(std::span<const Item> items, double scale, std::span<double> of_each) override {
    for (std::size_t k = 0; k < items.size(); ++k) {
      const at::Tensor wide = as_real(gradient_of(items[k])).to(at::kDouble);
      of_each[k] = (wide * scale).square().sum().item<double>();
    }
  }
  bool gradient_is_zero(const Item& item) override { return !gradient_of(item).any().item<bool>(); }
  void start_at_zero(const Item& item) override {
    const AtenParameter& tensors = slots_[item.slot].tensors;
    for (const at::Tensor& state : {tensors.m, tensors.v}) {
      if (state.defined()) state.zero_();
    }
  }
  void step(std::span<const Item> items) override {
    for (const Item& item : items) {
      const auto& [tensors, method] = slots_[item.slot];
      if (tensors.x.numel() == 0) continue;
      aten_step(*method, *item.numbers, tensors.x, gradient_of(item), tensors.m, tensors.v);
    }
  }

 private:
  struct Slot {
    AtenParameter tensors;
    const Method* method;
  };
  static const at::Tensor& gradient_of(const Item& item) {
    return *static_cast<const at::Tensor*>(item.gradient->data);
  }

  std::vector<Slot> slots_;
};

}  // namespace bcos::libtorch
