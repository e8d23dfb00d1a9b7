#include "engine/update/strides.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "engine/error.hpp"

namespace bcos {
namespace {

using Wide = __int128;

std::uint64_t magnitude(std::int64_t stride) {
  const auto bits = static_cast<std::uint64_t>(stride);
  return stride < 0 ? 0 - bits : bits;
}

}  // namespace

void Strides::assign(Dims shape, Dims strides, std::size_t bytes_of_element) {
  const std::uint64_t size = element_count(shape);
  if (!strides.empty() && strides.size() != shape.size()) {
    throw fail(ErrorCode::mismatch, "tensor", "expected {} strides but received {}", shape.size(),
               strides.size());
  }
  // In bytes, from the lowest element to the highest.
  const Wide most = std::numeric_limits<std::ptrdiff_t>::max() / Wide(bytes_of_element);
  Wide low = 0;
  Wide high = 0;
  for (std::size_t i = 0; size > 1 && i < strides.size(); ++i) {
    const Wide reach = Wide(shape[i] - 1) * strides[i];
    (reach < 0 ? low : high) += reach;
    if (high - low >= most) {
      throw fail("tensor", "expected strides that stay within memory but received {} for size {}",
                 strides[i], shape[i]);
    }
  }
  dims_.clear();
  dims_.reserve(shape.size());
  size_ = size;
  lowest_ = static_cast<std::int64_t>(low);
  highest_ = static_cast<std::int64_t>(high);
  if (strides.empty()) highest_ = size == 0 ? 0 : static_cast<std::int64_t>(size) - 1;
  if (size <= 1 || strides.empty()) return;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    const Dim dim{static_cast<std::uint64_t>(shape[i]), strides[i]};
    if (!dims_.empty() && dims_.back().stride == shape[i] * dim.stride) {
      dims_.back() = {dims_.back().size * dim.size, dim.stride};
    } else {
      dims_.push_back(dim);
    }
  }
  if (dims_.size() == 1 && dims_[0].stride == 1) dims_.clear();
}

std::int64_t Strides::offset(std::uint64_t index) const {
  if (dense()) return static_cast<std::int64_t>(index);
  std::int64_t offset = 0;
  for (std::size_t i = dims_.size(); i-- > 0;) {
    offset += static_cast<std::int64_t>(index % dims_[i].size) * dims_[i].stride;
    index /= dims_[i].size;
  }
  return offset;
}

std::vector<std::int64_t> dense_like(Dims shape, Dims strides) {
  std::vector<std::size_t> inner_first(strides.size());
  for (std::size_t k = 0; k < strides.size(); ++k) inner_first[k] = strides.size() - 1 - k;
  const auto logical = inner_first;
  std::ranges::sort(inner_first, [&](std::size_t i, std::size_t j) {
    const std::uint64_t a = magnitude(strides[i]), b = magnitude(strides[j]);
    return a != b ? a < b : i > j;
  });
  std::vector<std::int64_t> dense(strides.size());
  std::int64_t next = 1;
  for (const std::size_t k : inner_first) {
    dense[k] = next;
    next *= shape[k];
  }
  if (inner_first == logical) dense.clear();
  return dense;
}

namespace {

/// A coefficient that runs from low to high, times a stride.
struct Term {
  Wide stride;
  Wide low;
  Wide high;
};

/// Whether some choice of the coefficients gives `target`. The terms' strides fall; each leaves few
/// choices to the one before it, for what follows must reach the rest.
bool reaches(std::span<const Term> terms, Wide target, int& tries) {
  if (terms.empty()) return target == 0;
  if (--tries < 0) return true;  // too entangled to tell apart
  Wide lowest = 0;
  Wide highest = 0;
  for (const Term& term : terms.subspan(1)) {
    lowest += term.stride * term.low;
    highest += term.stride * term.high;
  }
  const Term& first = terms.front();
  const auto rounded_down = [](Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); };
  const Wide from = std::max(first.low, -rounded_down(-(target - highest), first.stride));
  const Wide to = std::min(first.high, rounded_down(target - lowest, first.stride));
  for (Wide k = from; k <= to; ++k) {
    if (reaches(terms.subspan(1), target - k * first.stride, tries)) return true;
  }
  return false;
}

constexpr int kTries = 10'000;

/// One term per dimension, strides positive and falling; those of one stride are one term.
class Terms {
 public:
  /// Takes offsets with the sign: the sum over dimensions of sign k stride, 0 <= k < size.
  void add(const Strides& strides, int sign) {
    const auto add_one = [&](std::uint64_t size, std::int64_t stride) {
      Wide reach = Wide(size - 1);
      Wide step = Wide(stride) * sign;
      Term term{step < 0 ? -step : step, step < 0 ? -reach : 0, step < 0 ? 0 : reach};
      terms_.push_back(term);
    };
    if (strides.dense() && strides.size() > 1) add_one(strides.size(), 1);
    for (const Strides::Dim& dim : strides.dims()) add_one(dim.size, dim.stride);
  }

  std::span<const Term> sorted() {
    std::ranges::sort(terms_, std::ranges::greater(), &Term::stride);
    std::vector<Term> merged;
    for (const Term& term : terms_) {
      if (!merged.empty() && merged.back().stride == term.stride) {
        merged.back().low += term.low;
        merged.back().high += term.high;
      } else {
        merged.push_back(term);
      }
    }
    // A stride of 0 changes nothing.
    if (!merged.empty() && merged.back().stride == 0) merged.pop_back();
    terms_ = std::move(merged);
    return terms_;
  }

 private:
  std::vector<Term> terms_;
};

}  // namespace

bool overlaps_itself(const Strides& strides) {
  // Two indices differ first in some dimension, by 1 or more, and by anything in those after it.
  std::vector<Term> differences;
  for (const Strides::Dim& dim : strides.dims()) {
    if (dim.stride == 0) return true;
    const Wide reach = Wide(dim.size - 1);
    differences.push_back({dim.stride < 0 ? -Wide(dim.stride) : Wide(dim.stride), -reach, reach});
  }
  std::ranges::sort(differences, std::ranges::greater(), &Term::stride);
  int tries = kTries;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    std::span<Term> rest = std::span(differences).subspan(i);
    const Wide reach = rest.front().high;
    rest.front().low = 1;
    if (reaches(rest, 0, tries)) return true;
    rest.front().low = -reach;
  }
  return false;
}

bool overlap(const Strides& a, const Strides& b, std::int64_t apart) {
  if (a.size() == 0 || b.size() == 0) return false;
  Terms terms;
  terms.add(a, 1);
  terms.add(b, -1);
  int tries = kTries;
  return reaches(terms.sorted(), apart, tries);
}

namespace {

/// Calls visit(offset, stride, done, count) for the runs of elements [begin, begin + n): `count`
/// elements `stride` apart, of which the first is element begin + done.
template <class Visit>
void for_each_run(const Strides& strides, std::uint64_t begin, std::size_t n, const Visit& visit) {
  const std::vector<Strides::Dim>& dims = strides.dims();
  if (dims.empty()) return visit(static_cast<std::int64_t>(begin), 1, 0, n);
  const Strides::Dim inner = dims.back();
  std::uint64_t at = begin % inner.size;
  std::uint64_t outer = begin / inner.size;
  for (std::size_t done = 0; done < n; at = 0, ++outer) {
    const std::size_t count = std::min<std::uint64_t>(inner.size - at, n - done);
    visit(strides.offset(outer * inner.size) + static_cast<std::int64_t>(at) * inner.stride,
          inner.stride, done, count);
    done += count;
  }
}

}  // namespace

template <class T>
void gather(const T* base, const Strides& strides, std::uint64_t begin, std::size_t n, T* out) {
  for_each_run(strides, begin, n,
               [&](std::int64_t offset, std::int64_t stride, std::size_t done, std::size_t count) {
                 const T* from = base + offset;
                 if (stride == 1) {
                   std::memcpy(out + done, from, count * sizeof(T));
                   return;
                 }
                 for (std::size_t i = 0; i < count; ++i, from += stride) out[done + i] = *from;
               });
}

template <class T>
void scatter(const T* in, const Strides& strides, std::uint64_t begin, std::size_t n, T* base) {
  for_each_run(strides, begin, n,
               [&](std::int64_t offset, std::int64_t stride, std::size_t done, std::size_t count) {
                 T* to = base + offset;
                 if (stride == 1) {
                   std::memcpy(to, in + done, count * sizeof(T));
                   return;
                 }
                 for (std::size_t i = 0; i < count; ++i, to += stride) *to = in[done + i];
               });
}

template void gather(const float*, const Strides&, std::uint64_t, std::size_t, float*);
template void gather(const double*, const Strides&, std::uint64_t, std::size_t, double*);
template void scatter(const float*, const Strides&, std::uint64_t, std::size_t, float*);
template void scatter(const double*, const Strides&, std::uint64_t, std::size_t, double*);

}  // namespace bcos
