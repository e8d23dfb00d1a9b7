// An update policy of ensmallen that takes its steps with bcos, on the C interface: C++14, as
// ensmallen is.
//
//   BcosUpdate update("bcosw_c");
//   ens::SGD<BcosUpdate> optimizer(alpha, batch, iterations, tolerance, true, update);
#pragma once

#include <bcos/bcos.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

class BcosUpdate {
 public:
  explicit BcosUpdate(std::string method = "bcosw_c") : method_(std::move(method)) {}

  const std::string& Method() const { return method_; }

  template <typename MatType, typename GradType>
  class Policy {
   public:
    Policy(BcosUpdate& parent, std::size_t, std::size_t) {
      check(bcos_optimizer_create(parent.Method().c_str(), nullptr, &optimizer_));
    }
    ~Policy() { bcos_optimizer_destroy(optimizer_); }
    Policy(const Policy&) = delete;
    Policy& operator=(const Policy&) = delete;

    void Update(MatType& iterate, const double stepSize, const GradType& gradient) {
      auto* const x = iterate.memptr();
      if (place_ == nullptr) {  // ensmallen gives sizes first, and addresses with the first step
        const std::int64_t size = static_cast<std::int64_t>(iterate.n_elem);
        const bcos_tensor tensor = tensor_of(x, size);
        check(bcos_optimizer_add(optimizer_, "iterate", &tensor, 0, nullptr));
      } else if (place_ != x) {  // another matrix, or this one in other memory
        check(bcos_optimizer_move(optimizer_, 0, x));
      }
      place_ = x;
      const bcos_gradient g = gradient_of(gradient.memptr(), gradient.n_elem);
      check(bcos_optimizer_step(optimizer_, &stepSize, 1, &g, 1, nullptr));
    }

   private:
    static void check(int code) {
      if (code != BCOS_OK) throw std::runtime_error(bcos_error_message());
    }
    static bcos_tensor tensor_of(float* x, const std::int64_t& size) {
      return BCOS_TENSOR_F32(x, 1, &size);
    }
    static bcos_tensor tensor_of(double* x, const std::int64_t& size) {
      return BCOS_TENSOR_F64(x, 1, &size);
    }
    static bcos_gradient gradient_of(const float* g, std::size_t n) {
      return BCOS_GRADIENT_F32(0, g, n);
    }
    static bcos_gradient gradient_of(const double* g, std::size_t n) {
      return BCOS_GRADIENT_F64(0, g, n);
    }

    bcos_optimizer* optimizer_ = nullptr;
    const void* place_ = nullptr;
  };

 private:
  std::string method_;
};
