#include <algorithm>
#include <cfloat>
#include <cmath>

#include "libtorch/aten_backend.hpp"

namespace bcos::libtorch {
namespace {

using at::Tensor;

/// How elements share stepsizes: blocks are the rows of some matrix made of the tensor's elements.
class BlockMatrix {
 public:
  BlockMatrix(const Blocks& blocks, const Tensor& x)
      : shape_(x.sizes().vec()), layout_(blocks.layout) {
    TORCH_CHECK(layout_ != Layout::lists,
                "Invalid blocks: lists of indices are for tensors on the CPU");
    count_ = static_cast<std::int64_t>(block_count(blocks, dims_of(x)));
    size_ = x.numel() / count_;
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
  std::int64_t count_;
  std::int64_t size_;
};

double tiniest(at::ScalarType type) { return type == at::kFloat ? FLT_MIN : DBL_MIN; }
double largest(at::ScalarType type) { return type == at::kFloat ? FLT_MAX : DBL_MAX; }

/// d/sqrt(v) is free of scale: computed on numbers divided by the largest of their block, squares
/// neither overflow nor vanish.
class Step {
 public:
  Step(const Method& method, const StepNumbers& n, const BlockMatrix& blocks)
      : n_(n), blocks_(blocks), momentum_(method.direction == Direction::momentum) {}

  Tensor direction(const Tensor& m, const Tensor& g) const {
    return momentum_ ? m * n_.beta + g * (1 - n_.beta) : g;
  }

  /// gamma d of every element.
  Tensor move(const Tensor& g, const Tensor& m, const Tensor& v, const Tensor& v_after) const {
    const double gain = n_.sqrt_gain ? std::sqrt(static_cast<double>(blocks_.size())) : 1.0;
    const double alpha = n_.alpha * gain;
    if (n_.b == New::one) {
      return direction(m, g) * (alpha / (std::sqrt(n_.q + n_.eps_root) + n_.eps));
    }
    const at::ScalarType type = g.scalar_type();
    const Tensor scale = scale_of(g, m, v);
    const Tensor wide = blocks_.spread(scale, type);
    const Tensor scaled_g = g / wide;
    const Tensor scaled_m = momentum_ ? m / wide : m;
    const Tensor scaled_d = direction(scaled_m, scaled_g);
    Tensor v_now = estimated(scaled_g, scaled_m, scaled_d, v.defined() ? v / scale / scale : v);
    if (n_.eps_root > 0) v_now = v_now + (std::sqrt(n_.eps_root) / scale).square();
    Tensor root = v_now.sqrt();
    if (n_.eps > 0) root = root + n_.eps / scale;
    const bool unbounded = momentum_ && n_.a == Old::v && n_.b != New::d_square;
    if (unbounded) root = bounded(root, v_after, blocks_.length(scaled_d));
    return scaled_d / blocks_.spread(root.clamp_min(tiniest(type)), type) * alpha;
  }

  /// v = p A + q B.
  Tensor estimated(const Tensor& g, const Tensor& m, const Tensor& d, const Tensor& v) const {
    const Tensor b = blocks_.sum(fresh_part(g, m, d).square());
    switch (n_.a) {
      case Old::nothing:
        return b;
      case Old::m_square:
        return blocks_.sum(m.square()) * n_.p + b * n_.q;
      case Old::v:
        return v * n_.p + b * n_.q;
    }
    TORCH_CHECK(false, "Invalid estimator: ATen has no form of it");
  }

 private:
  Tensor fresh_part(const Tensor& g, const Tensor& m, const Tensor& d) const {
    switch (n_.b) {
      case New::d_square:
        return d;
      case New::g_square:
        return g;
      case New::g_plus_beta_m_square:
        return g + m * n_.beta;
      case New::one:
      case New::given:
        break;
    }
    TORCH_CHECK(false, "Invalid estimator: ATen has no form of it");
  }

  /// At least what no |d|/sqrt(v) goes beyond; where v has vanished, scaled or not, the length of
  /// d, so that the step is alpha d/|d|.
  Tensor bounded(const Tensor& root, const Tensor& v, const Tensor& length) const {
    const Tensor least = length / kMostAmplified;
    if (n_.eps > 0 || n_.eps_root > 0) return root.maximum(least);
    return at::where(root + v == 0, length, root).maximum(least);
  }

  Tensor scale_of(const Tensor& g, const Tensor& m, const Tensor& v) const {
    Tensor scale = blocks_.largest(g.abs());
    if (momentum_) scale = scale.maximum(blocks_.largest(m.abs()));
    if (v.defined()) scale = scale.maximum(v.sqrt());
    return scale.clamp_min(
        std::max({std::sqrt(n_.eps_root), n_.eps, tiniest(scale.scalar_type())}));
  }

  const StepNumbers& n_;
  const BlockMatrix& blocks_;
  bool momentum_;
};

}  // namespace

void aten_step(const Method& method, const StepNumbers& n, const Tensor& x, const Tensor& gradient,
               const Tensor& m, const Tensor& v) {
  const Tensor x_real = as_real(x);
  const at::ScalarType type = working_type(x_real.scalar_type());
  const BlockMatrix blocks(method.blocks, x_real);
  const Tensor x_wide = x_real.to(type);
  const Tensor raw = as_real(gradient).to(type) * n.factor;
  const Tensor g = n.coupled ? raw + x_wide * n.lambda : raw;
  const Tensor stored_m = m.defined() ? as_real(m) : m;
  const Tensor stored_v = v.defined() && v.is_complex() ? as_real(v) : v;
  Tensor old_m = stored_m;
  Tensor old_v = stored_v;
  if (old_m.defined() && !n.reads_m) old_m = at::zeros_like(old_m);
  if (old_v.defined() && !n.reads_v) old_v = at::zeros_like(old_v);
  if (n.unstarted && n.starts_from_gradient) {
    const Tensor first = n.starts_from_raw ? raw : g;
    if (old_m.defined()) old_m = first;
    if (old_v.defined()) old_v = blocks.sum(first.square()).to(type);
  }

  const Step step(method, n, blocks);
  const Tensor d = step.direction(old_m, g);
  Tensor new_v;
  if (stored_v.defined()) new_v = step.estimated(g, old_m, d, old_v).clamp_max(largest(type));
  const Tensor update = step.move(g, old_m, old_v, new_v);
  if (stored_v.defined()) stored_v.copy_(new_v);
  if (stored_m.defined()) stored_m.copy_(d);
  x_real.copy_(x_wide - (n.delta == 0 ? update : x_wide * n.delta + update));
}

}  // namespace bcos::libtorch
