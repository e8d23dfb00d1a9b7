#include "lab/theory/claim.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "engine/error.hpp"
#include "engine/suggestion.hpp"

namespace bcos::lab::theory {
namespace {

std::vector<Claim>& registry() {
  static std::vector<Claim> claims;
  return claims;
}

int number_of(const Claim& claim) { return std::atoi(claim.id.c_str() + 1); }

}  // namespace

RegisterClaim::RegisterClaim(Claim claim) {
  auto& all = registry();
  all.insert(std::ranges::upper_bound(all, number_of(claim), {}, number_of), std::move(claim));
}

std::span<const Claim> claims() { return registry(); }

const Claim& claim_by_id(const std::string& id, std::span<const std::string_view> others) {
  std::string wanted = id;
  std::ranges::transform(wanted, wanted.begin(), [](unsigned char c) { return std::toupper(c); });
  std::vector<std::string_view> known;
  for (const Claim& claim : registry()) {
    if (claim.id == wanted) return claim;
    known.push_back(claim.id);
  }
  known.insert(known.end(), others.begin(), others.end());
  throw fail("theory", "expected a claim in T1..T24 but received '{}'{}", id,
             suggestion(id, known));
}

}  // namespace bcos::lab::theory
