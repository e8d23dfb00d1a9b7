#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "lab/theory/claim.hpp"
#include "lab/theory/parallel.hpp"
#include "lab/theory/problem.hpp"

namespace bcos::lab::theory {
namespace {

/// X_{t+1} = (1 - a_t / t^p) X_t + b / t^q, from X_1 on.
struct Recursion {
  double a, p, b, q;
  double first = 1;                      ///< X_1
  std::function<double(double)> more{};  ///< added to a at t; none: nothing

  /// X_{t+1} from X_t.
  double next(double t, double x) const {
    const double pull = a + (more ? more(t) : 0);
    return (1 - pull / std::pow(t, p)) * x + b / std::pow(t, q);
  }
  /// X_t.
  double at(std::uint64_t t) const {
    double x = first;
    for (std::uint64_t s = 1; s < t; ++s) x = next(static_cast<double>(s), x);
    return x;
  }
};

/// Lemma 6: p = 1, q = rate + 1. Lemma 8: 0 < p < 1 and rate = q - p.
double rate_of(const Recursion& r) { return r.q - r.p; }
double limit_of(const Setup& setup, const Recursion& r) {
  const double rate = rate_of(r);
  return r.p == 1 ? r.b / setup.right(r.a - rate, r.a, 1) : r.b / setup.right(r.a, r.a - r.p, 2);
}

/// t^rate X_t / (b / (a - rate t^{p-1})): the limit, with the first term that is left of it.
double scaled(const Recursion& r, std::uint64_t t) {
  const double time = static_cast<double>(t);
  const double seen = std::pow(time, rate_of(r)) * r.at(t);
  return r.p == 1 ? seen : seen * (1 - rate_of(r) / r.a * std::pow(time, r.p - 1));
}

/// The values that go with the two lemmas' own examples, to their digits.
void quoted(const Setup& setup, Findings& findings) {
  constexpr std::uint64_t kLate = 1000000;
  const Recursion first{.a = 3, .p = 1, .b = 2, .q = 2};
  const Recursion second{.a = 1.5, .p = 0.75, .b = 2, .q = 1.5};
  const double time = static_cast<double>(kLate);
  const double x = first.at(kLate);
  const double y = second.at(kLate);
  findings.equal("Lemma 6, a = 3, p = 1, b = 2: t X_t at 1e6, b / (a - p)", {time * x},
                 limit_of(setup, first), 2e-6);
  // X_t = 1/t - 1/t^2 + ...: the first term that the lemma leaves to O(1/t^{p+1}).
  findings.equal("Lemma 6: t (t X_t - 1), the next term", {time * (time * x - 1)},
                 setup.right(-1.0, 0.0, 3), 1e-4);
  findings.number("Lemma 6: t X_{t+1} at 1e6", {time * first.next(time, x)});
  findings.number("Lemma 8, a = 1.5, p = 0.75, q = 1.5, b = 2: t^{q-p} X_t at 1e6",
                  {std::pow(time, 0.75) * y});
}

/// Other constants, the recursion as an equality, which attains the limit.
void attained(const Setup& setup, Findings& findings) {
  constexpr std::uint64_t kLate = 300000;
  const Recursion all[] = {{.a = 3, .p = 1, .b = 2, .q = 1.5},
                           {.a = 2, .p = 1, .b = 0.3, .q = 2},
                           {.a = 2.5, .p = 1, .b = 5, .q = 2.4, .first = 40},
                           {.a = 1.5, .p = 0.75, .b = 2, .q = 1.5},
                           {.a = 0.7, .p = 0.4, .b = 1, .q = 0.8},
                           {.a = 2, .p = 0.6, .b = 3, .q = 2, .first = 25}};
  Vector seen(std::size(all));
  parallel_for(seen.size(), [&](std::size_t i) { seen[i] = scaled(all[i], kLate); });
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const Recursion& r = all[i];
    const double limit = limit_of(setup, r);
    // Left are terms t^-1 and t^{rate-a}, or the square of t^{p-1}.
    findings.equal(fmt::format("Lemma {}, a = {}, p = {}, q = {}, b = {}: the limit is attained",
                               r.p == 1 ? 6 : 8, r.a, r.p, r.q, r.b),
                   {seen[i]}, limit, 1e-3 * limit);
  }
}

/// The lemmas are about inequalities: taking away from the recursion cannot lift the limit.
void bounded(const Setup& setup, Findings& findings) {
  constexpr std::uint64_t kLate = 300000;
  const Recursion r{.a = 1.5, .p = 0.75, .b = 2, .q = 1.5, .more = [](double t) {
                      return 1 + std::sin(std::sqrt(t));
                    }};
  findings.at_most("Lemma 8, a_t >= a = 1.5: t^{q-p} X_t at 3e5 below b / a", {scaled(r, kLate)},
                   setup.right(limit_of(setup, r), r.b / (r.a + 2), 4));
}

/// a > p is needed in Lemma 6: else X_t decays like t^-a alone.
void condition(const Setup& setup, Findings& findings) {
  const Recursion r{.a = 0.5, .p = 1, .b = 2, .q = 2};
  const double x = r.at(400000);
  const double y = r.at(1600000);
  findings.equal("Lemma 6 without a > p (a = 0.5, p = 1): log4 of X_t over X_4t",
                 {std::log(x / y) / std::log(4.0)}, setup.right(0.5, 1.0, 3), 4e-3);
}

void run(const Setup& setup, Findings& findings) {
  quoted(setup, findings);
  attained(setup, findings);
  bounded(setup, findings);
  condition(setup, findings);
}

const RegisterClaim registered{
    {.id = "T16",
     .name = "Lemmas 6, 8",
     .title = "Chung's lemmas",
     .statement = "X_{t+1} <= (1 - a/t) X_t + b/t^{p+1} with a > p > 0 gives t^p X_t -> at most "
                  "b / (a - p); X_{t+1} <= (1 - a_t/t^p) X_t + b/t^q with a_t >= a, 0 < p < 1 and "
                  "p < q gives t^{q-p} X_t -> at most b/a. As equalities they attain it. (Robbins "
                  "and Siegmund, Lemma 3, is in T7.)",
     .mutants = {"b / a in the first lemma", "b / (a - p) in the second",
                 "the rate t^-p of the limit alone: no next term, no a > p",
                 "the largest a_t in the place of the least"},
     .run = run}};

}  // namespace
}  // namespace bcos::lab::theory
