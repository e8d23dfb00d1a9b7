#include "engine/update/strides.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "engine/error.hpp"

namespace bcos {
namespace {

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
  const std::int64_t most =
      std::numeric_limits<std::ptrdiff_t>::max() / static_cast<std::ptrdiff_t>(bytes_of_element);
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (std::size_t i = 0; size > 1 && i < strides.size(); ++i) {
    std::int64_t reach = 0;
    std::int64_t span = 0;
    std::int64_t& end = strides[i] < 0 ? low : high;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) ||
        __builtin_add_overflow(end, reach, &end) || __builtin_sub_overflow(high, low, &span) ||
        span >= most) {
      throw fail("tensor", "expected strides that stay within memory but received {} for size {}",
                 strides[i], shape[i]);
    }
  }
  dims_.clear();
  dims_.reserve(shape.size());
  size_ = size;
  lowest_ = low;
  highest_ = high;
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

/// k stride, for low <= k <= high.
struct Term {
  std::int64_t stride;
  std::int64_t low;
  std::int64_t high;
};
/// Strides are positive and fall.
using Terms = std::vector<Term>;

void add_term(Terms& terms, std::int64_t stride, std::int64_t low, std::int64_t high) {
  if (stride < 0) return add_term(terms, -stride, -high, -low);
  const auto place = std::ranges::find_if(terms, [&](const Term& t) { return t.stride <= stride; });
  if (place == terms.end() || place->stride < stride) {
    terms.insert(place, {stride, low, high});
  } else {
    *place = {stride, place->low + low, place->high + high};
  }
}

std::int64_t divided_down(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// Whether the terms can add up to `target`. The first one has few choices, for the others, whose
/// strides are smaller, must reach the rest.
bool reach(std::span<const Term> terms, std::int64_t target, int& tries) {
  if (terms.empty() || terms.front().stride == 0) return target == 0;
  if (--tries < 0) return true;  // too entangled to tell
  const Term& first = terms.front();
  const auto rest = terms.subspan(1);
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  for (const Term& term : rest) {
    lowest += term.stride * term.low;
    highest += term.stride * term.high;
  }
  const std::int64_t from = std::max(first.low, -divided_down(highest - target, first.stride));
  const std::int64_t to = std::min(first.high, divided_down(target - lowest, first.stride));
  for (std::int64_t k = from; k <= to; ++k) {
    if (reach(rest, target - k * first.stride, tries)) return true;
  }
  return false;
}

constexpr int kTries = 10'000;

}  // namespace

bool overlaps_itself(const Strides& strides) {
  const std::vector<Strides::Dim>& dims = strides.dims();
  int tries = kTries;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    // Two indices that differ first in dimension i: by 1 or more there, by anything in later ones.
    Terms differences;
    for (std::size_t k = i; k < dims.size(); ++k) {
      const std::int64_t most = static_cast<std::int64_t>(dims[k].size) - 1;
      add_term(differences, dims[k].stride, k == i ? 1 : -most, most);
    }
    if (reach(differences, 0, tries)) return true;
  }
  return false;
}

bool overlap(const Strides& a, const Strides& b, std::int64_t apart) {
  if (a.size() == 0 || b.size() == 0) return false;
  Terms terms;
  for (const auto& [strides, sign] : {std::pair(&a, 1), std::pair(&b, -1)}) {
    if (strides->dense()) add_term(terms, sign, 0, static_cast<std::int64_t>(strides->size()) - 1);
    for (const Strides::Dim& dim : strides->dims()) {
      add_term(terms, dim.stride * sign, 0, static_cast<std::int64_t>(dim.size) - 1);
    }
  }
  int tries = kTries;
  return reach(terms, apart, tries);
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
