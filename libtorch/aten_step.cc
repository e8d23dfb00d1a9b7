#include "libtorch/aten_step.hpp"

#include <algorithm>
#include <cmath>

#include "bcos/step_numbers.hpp"
#include "libtorch/tensors.hpp"

namespace bcos::libtorch {
namespace {

using at::Tensor;

/// How elements share stepsizes: blocks are the rows of some matrix made of the tensor's elements.
class BlockMatrix {
 public:
  BlockMatrix(const Blocks& blocks, const Tensor& x)
      : shape_(x.sizes().vec()), layout_(blocks.layout) {
    const std::int64_t n = x.numel();
    switch (layout_) {
      case Layout::coordinate:
        return;
      case Layout::lists:
        TORCH_CHECK(false, "Invalid blocks: lists of indices are for tensors on the CPU");
      case Layout::column:
        count_ = x.dim() == 0 ? 1 : x.size(-1);
        break;
      default:
        count_ = static_cast<std::int64_t>(
            block_count(blocks, Dims(x.sizes().data(), x.sizes().size())));
    }
    size_ = count_ == 0 ? 0 : n / count_;
  }

  bool coordinates() const { return layout_ == Layout::coordinate; }
  std::int64_t size() const { return size_; }

  Tensor sum(const Tensor& values) const {
    return coordinates() ? values : fold(values).to(at::kDouble).sum(1);
  }
  Tensor largest(const Tensor& values) const {
    return coordinates() ? values : fold(values).amax(1);
  }
  Tensor length(const Tensor& values) const {
    return coordinates() ? values.abs() : sum(values.square()).sqrt();
  }
  /// One number a block, for every element.
  Tensor spread(const Tensor& numbers, at::ScalarType type) const {
    if (coordinates()) return numbers;
    const Tensor matrix = numbers.to(type).unsqueeze(1).expand({count_, size_});
    return (layout_ == Layout::column ? matrix.t() : matrix).reshape(shape_);
  }

 private:
  Tensor fold(const Tensor& values) const {
    if (layout_ == Layout::column) return values.reshape({size_, count_}).t();
    return values.reshape({count_, size_});
  }

  std::vector<std::int64_t> shape_;
  Layout layout_;
  std::int64_t count_ = 0;
  std::int64_t size_ = 1;
};

double tiniest(at::ScalarType type) {
  return type == at::kFloat ? std::numeric_limits<float>::min()
                            : std::numeric_limits<double>::min();
}
double largest(at::ScalarType type) {
  return type == at::kFloat ? std::numeric_limits<float>::max()
                            : std::numeric_limits<double>::max();
}

/// d/sqrt(v) is free of scale: computed on numbers divided by the largest of their block, squares
/// neither overflow nor vanish.
class Step {
 public:
  Step(const Method& method, const StepNumbers& n, const BlockMatrix& blocks)
      : method_(method), n_(n), blocks_(blocks) {
    momentum_ = method.direction == Direction::momentum;
    // At beta = 0 the old m may be of any size.
    reads_m_ = momentum_ && (n.beta != 0 || method.estimator == Estimator::cond_free);
  }

  Tensor direction(const Tensor& m, const Tensor& g) const {
    return momentum_ ? m * n_.beta + g * (1 - n_.beta) : g;
  }

  /// gamma d of every element.
  Tensor move(const Tensor& g, const Tensor& m, const Tensor& v, const Tensor& v_after) const {
    const double gain = n_.sqrt_gain ? std::sqrt(static_cast<double>(blocks_.size())) : 1.0;
    const double alpha = n_.alpha * gain;
    if (method_.estimator == Estimator::constant) {
      return direction(m, g) * (alpha / (std::sqrt(n_.c + n_.eps_root) + n_.eps));
    }
    const at::ScalarType type = g.scalar_type();
    const Tensor scale = scale_of(g, m, v);
    const Tensor wide = blocks_.spread(scale, type);
    const Tensor g_ = g / wide;
    const Tensor m_ = reads_m_ ? m / wide : g_;
    const Tensor d_ = direction(m_, g_);
    Tensor estimate = estimated(g_, m_, d_, v.defined() ? v / scale / scale : v);
    if (n_.eps_root > 0) estimate = estimate + (std::sqrt(n_.eps_root) / scale).square();
    Tensor root = estimate.sqrt();
    if (n_.eps > 0) root = root + n_.eps / scale;
    if (method_.estimator == Estimator::ema_g) root = bounded(root, v_after, blocks_.length(d_));
    return d_ / blocks_.spread(root.clamp_min(tiniest(type)), type) * alpha;
  }

  Tensor new_v(const Tensor& g, const Tensor& d, const Tensor& v) const {
    const Tensor& part = method_.estimator == Estimator::ema_d ? d : g;
    return (v * n_.p + blocks_.sum(part.square()) * n_.q).clamp_max(largest(g.scalar_type()));
  }

 private:
  /// At least what no |d|/sqrt(v) goes beyond; where v has vanished, scaled or not, the length of
  /// d, so that the step is alpha d/|d|.
  Tensor bounded(const Tensor& root, const Tensor& v, const Tensor& length) const {
    const Tensor least = length / kMostAmplified;
    if (n_.eps > 0 || n_.eps_root > 0) return root.maximum(least);
    return at::where(root + v == 0, length, root).maximum(least);
  }

  Tensor estimated(const Tensor& g, const Tensor& m, const Tensor& d, const Tensor& v) const {
    switch (method_.estimator) {
      case Estimator::instant:
        return blocks_.sum(d.square());
      case Estimator::ema_d:
        return v * n_.p + blocks_.sum(d.square()) * n_.q;
      case Estimator::ema_g:
        return v * n_.p + blocks_.sum(g.square()) * n_.q;
      case Estimator::cond_full:
        return blocks_.sum(m.square()) * n_.p + blocks_.sum((g + m * n_.beta).square()) * n_.q;
      default:
        return blocks_.sum(m.square()) * n_.p + blocks_.sum(g.square()) * n_.q;
    }
  }

  Tensor scale_of(const Tensor& g, const Tensor& m, const Tensor& v) const {
    Tensor scale = blocks_.largest(g.abs());
    if (reads_m_) scale = scale.maximum(blocks_.largest(m.abs()));
    if (v.defined()) scale = scale.maximum(v.sqrt());
    return scale.clamp_min(
        std::max({std::sqrt(n_.eps_root), n_.eps, tiniest(scale.scalar_type())}));
  }

  const Method& method_;
  const StepNumbers& n_;
  const BlockMatrix& blocks_;
  bool momentum_;
  bool reads_m_;
};

}  // namespace

void aten_step(const Method& method, double alpha, std::uint64_t t, double factor, const Tensor& x,
               const Tensor& gradient, const Tensor& m, const Tensor& v) {
  if (x.numel() == 0) return;
  const Tensor x_real = as_real(x);
  const at::ScalarType type = working_type(x_real.scalar_type());
  const BlockMatrix blocks(method.blocks, x_real);
  const StepNumbers n = step_numbers(method, alpha, t, 1);
  const Tensor x_wide = x_real.to(type);
  const Tensor raw = as_real(gradient).to(type) * factor;
  const Tensor g = n.coupled ? raw + x_wide * n.lambda : raw;
  Tensor old_m = m.defined() ? as_real(m) : m;
  Tensor old_v = v.defined() && v.is_complex() ? as_real(v) : v;
  const Tensor stored_m = old_m;
  const Tensor stored_v = old_v;
  if (n.unstarted) {
    const Tensor first = n.adopt_raw ? raw : g;
    if (old_m.defined()) old_m = n.adopt ? first : at::zeros_like(old_m);
    if (old_v.defined()) {
      old_v = n.adopt ? blocks.sum(first.square()).to(type) : at::zeros_like(old_v);
    }
  }

  const Step step(method, n, blocks);
  const Tensor d = step.direction(old_m, g);
  const Tensor new_v = old_v.defined() ? step.new_v(g, d, old_v) : old_v;
  const Tensor update = step.move(g, old_m, old_v, new_v);
  if (stored_v.defined()) stored_v.copy_(new_v);
  if (stored_m.defined()) stored_m.copy_(d);
  x_real.copy_(x_wide - (n.delta == 0 ? update : x_wide * n.delta + update));
}

double norm_of(const Tensor& gradient) {
  if (gradient.numel() == 0) return 0;
  const Tensor wide = as_real(gradient).to(at::kDouble);
  const double norm = wide.norm().item<double>();
  if (!std::isinf(norm)) return norm;
  const double scale = wide.abs().max().item<double>();
  return std::isinf(scale) ? scale : scale * (wide / scale).norm().item<double>();
}

}  // namespace bcos::libtorch
