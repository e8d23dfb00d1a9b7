#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "bcos/methods.hpp"
#include "engine/error.hpp"
#include "engine/suggestion.hpp"

namespace bcos {
namespace {

constexpr std::string_view kPaper = "@paper";

constexpr std::array<NamedMethod, 16> kMethods = {{{"sgd", &sgd},
                                                   {"sgd_momentum", &sgd_momentum},
                                                   {"sign_sgd", &sign_sgd},
                                                   {"sign_momentum", &sign_momentum},
                                                   {"bcos_g", &bcos_g},
                                                   {"bcos_m", &bcos_m},
                                                   {"bcos_c", &bcos_c},
                                                   {"bcos_c_simple", &bcos_c_simple},
                                                   {"bcosw_g", &bcosw_g},
                                                   {"bcosw_m", &bcosw_m},
                                                   {"bcosw_c", &bcosw_c},
                                                   {"bcosw_c_simple", &bcosw_c_simple},
                                                   {"adams", &adams},
                                                   {"adamsw", &adamsw},
                                                   {"adam", &adam},
                                                   {"adamw", &adamw}}};

std::optional<Method> paper_form(const NamedMethod& named) {
  Method method = *named.method;
  if (named.id.starts_with("bcos")) {
    method.start = Start::first;
    return method;
  }
  if (named.id == "adam" || named.id == "adamw") {
    method.beta_v = 0.99;
    method.lambda = 0.1;
    return method;
  }
  return std::nullopt;
}

/// The id that was meant, or nothing: near "NAdam" and "Adan" there are ids too, but of other
/// optimizers. "BCOS" is what the classes of Python and LibTorch are called.
std::string_view meant_by(std::string_view id) {
  const std::string wanted = spelling(id);
  if (wanted == "bcos") return "bcosw_c";
  std::vector<std::string_view> known;
  for (const NamedMethod& named : kMethods) {
    if (wanted.starts_with(named.id.front())) known.push_back(named.id);
  }
  return nearest(wanted, known, 5);
}

}  // namespace

std::span<const NamedMethod> named_methods() { return kMethods; }

Method method_by_name(std::string_view name) {
  const std::size_t at = name.find('@');
  const std::string_view id = name.substr(0, at);
  const std::string_view form = at == std::string_view::npos ? "" : name.substr(at);
  for (const NamedMethod& named : kMethods) {
    if (named.id != id) continue;
    if (form.empty()) return *named.method;
    if (form != kPaper) {
      throw fail("method_by_name", "expected {0} or {0}{1} but received '{2}'", id, kPaper, name);
    }
    if (const auto method = paper_form(named)) return *method;
    throw fail("method_by_name", "expected {0} but received '{1}': {0} has no form of the paper's",
               id, name);
  }
  if (const std::string_view meant = meant_by(id); !meant.empty()) {
    throw fail("method_by_name", "expected the id of a method but received '{}'{}", name,
               did_you_mean(meant));
  }
  std::array<std::string_view, kMethods.size()> known;
  std::ranges::transform(kMethods, known.begin(), &NamedMethod::id);
  throw fail("method_by_name", "expected one of {} but received '{}'", fmt::join(known, ", "),
             name);
}

std::string name_of(const Method& method) {
  for (const NamedMethod& named : kMethods) {
    if (*named.method == method) return std::string(named.id);
  }
  for (const NamedMethod& named : kMethods) {
    if (paper_form(named) == method) return fmt::format("{}{}", named.id, kPaper);
  }
  return {};
}

}  // namespace bcos
