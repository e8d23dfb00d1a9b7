#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "bcos/backend.hpp"
#include "libtorch/tensors.hpp"

namespace bcos::libtorch {

/// One step of one parameter in ATen operations, on any device. m and v are undefined where the
/// method keeps none; all are changed in place, the gradient is not.
void aten_step(const Method& method, const StepNumbers& numbers, const at::Tensor& x,
               const at::Tensor& gradient, const at::Tensor& m, const at::Tensor& v);

/// Tensors that the engine cannot step: on other devices, of 16 bits, complex. The data of a
/// parameter's views are tensors (TensorImpl), that of a gradient is an at::Tensor.
class AtenBackend final : public Backend {
 public:
  Place add(const Parameter& parameter, const Method& method, std::string_view) override {
    slots_.push_back({tensor(parameter.x), tensor(parameter.m), tensor(parameter.v), &method});
    const auto bytes = [](const at::Tensor& t) { return t.defined() ? t.nbytes() : 0; };
    const Slot& slot = slots_.back();
    return {slots_.size() - 1, 3 * bytes(slot.x) + 2 * bytes(slot.m) + 2 * bytes(slot.v)};
  }
  void move(std::size_t slot, const Parameter& parameter) override {
    slots_[slot].x = tensor(parameter.x);
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
    for (const at::Tensor& state : {slots_[item.slot].m, slots_[item.slot].v}) {
      if (state.defined()) state.zero_();
    }
  }
  void step(std::span<const Item> items) override {
    for (const Item& item : items) {
      const auto& [x, m, v, method] = slots_[item.slot];
      if (x.numel() > 0) aten_step(*method, *item.numbers, x, gradient_of(item), m, v);
    }
  }

 private:
  struct Slot {
    at::Tensor x, m, v;
    const Method* method;
  };
  static at::Tensor tensor(const TensorView& view) {
    if (view.data == nullptr) return {};
    auto* const impl = static_cast<c10::TensorImpl*>(view.data);
    return at::Tensor(c10::intrusive_ptr<c10::TensorImpl>::reclaim_copy(impl));
  }
  static const at::Tensor& gradient_of(const Item& item) {
    return *static_cast<const at::Tensor*>(item.gradient->data);
  }

  std::vector<Slot> slots_;
};

}  // namespace bcos::libtorch
