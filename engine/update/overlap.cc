#include <algorithm>
#include <utility>

#include "engine/update/strides.hpp"

/// Which tensors share an element.
namespace bcos {
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

}  // namespace bcos
