#include "engine/kernels/kernels.hpp"

namespace bcos::kernels {

double combine(const double (&lanes)[kLanes]) {
  double sum[kLanes / 2];
  for (std::size_t i = 0; i < kLanes / 2; ++i) sum[i] = lanes[i] + lanes[i + kLanes / 2];
  for (std::size_t half = kLanes / 4; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sum[i] += sum[i + half];
  }
  return sum[0];
}

}  // namespace bcos::kernels
