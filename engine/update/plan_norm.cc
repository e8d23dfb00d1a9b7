#include <cmath>

#include "engine/update/plan_impl.hpp"

/// The pass over all gradients that clipping and the guard need.
namespace bcos {
namespace {

/// float64 squares can overflow; scaled by this they cannot.
constexpr double kNormScale = 0x1p-600;

}  // namespace

double Plan::Impl::gradient_factor(const StepOptions& options, StepReport& report) {
  const bool guarded = options.guard != Guard::propagate;
  if (!guarded && !options.max_norm) return 1 / options.grad_scale;

  double scale = 1;
  double square = sum_of_squares(scale);
  if (!std::isfinite(square)) {
    scale = kNormScale;
    square = sum_of_squares(scale);
  }
  if (!std::isfinite(square) && guarded) {
    report.skipped = true;
    return 0;
  }
  const double scaled_norm = std::sqrt(square) / std::abs(options.grad_scale);
  report.norm = scaled_norm / scale;
  double clip = 1;
  if (options.max_norm) {
    // With torch's convention: the norm plus 1e-6.
    const double ratio = *options.max_norm * scale / (scaled_norm + 1e-6 * scale);
    clip = ratio < 1 || std::isnan(ratio) ? ratio : 1;
    report.clipped = clip < 1;
  }
  return clip / options.grad_scale;
}

double Plan::Impl::sum_of_squares(double scale) {
  norm_scale_ = scale;
  run(norm_tasks_, &Impl::sum_norm);
  double total = 0;
  const double* chunk = norm_sums_.data();
  for (const TensorHead& head : heads_) {
    const std::uint64_t chunks = chunks_of(head.n);
    if (head.in_step) {
      PairwiseSum sum;
      for (std::uint64_t i = 0; i < chunks; ++i) sum.add(chunk[i]);
      total += sum.total();
    }
    chunk += chunks;
  }
  return total;
}

void Plan::Impl::sum_norm(const Piece& piece) {
  heads_[piece.tensor].dtype == DType::f32 ? sum_norm_of<float>(piece) : sum_norm_of<double>(piece);
}

template <class T>
void Plan::Impl::sum_norm_of(const Piece& piece) {
  const TensorHead& head = heads_[piece.tensor];
  const auto* g = static_cast<const T*>(head.g);
  const TensorLayout* layout = head.ordinary || tensors_[piece.tensor].g_layout().dense()
                                   ? nullptr
                                   : &tensors_[piece.tensor].g_layout();
  double* sums = norm_sums_.data() + first_norm_chunk_[piece.tensor];
  for (std::uint64_t i = piece.begin; i < piece.end; i += kSumChunk) {
    const std::uint64_t n = std::min(kSumChunk, piece.end - i);
    double lanes[kernels::kLanes] = {};
    if (layout == nullptr) {
      kernels<T>().add_squares(g + i, n, norm_scale_, lanes);
    } else {
      T gathered[kSumChunk];
      gather(g, *layout, i, n, gathered);
      kernels<T>().add_squares(gathered, n, norm_scale_, lanes);
    }
    sums[i / kSumChunk] = kernels::combine(lanes);
  }
}

}  // namespace bcos
