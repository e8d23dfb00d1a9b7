#include "lab/theory/tour.hpp"

#include <algorithm>

namespace bcos::lab::theory {
namespace {

const std::vector<Chapter>& all() {
  static const std::vector<Chapter> chapters = {
      {"Where the stepsizes come from",
       "Section 2",
       "Which stepsize of each block brings the next point nearest to the target, in expectation? "
       "The answer contains the target itself and the expectations E d_k and E|d_k|^2, all "
       "unknown. The method keeps its form: what is unknown about the target becomes a schedule "
       "alpha_t, and E|d_k|^2 an estimate v.",
       {"T1"}},
      {"Aiming",
       "Section 5.1",
       "All that follows rests on one condition: with phi_t = E_t d_t / sqrt(E_t d_t^2), the "
       "expected direction must not lead away from the target, <x_t - x_*, phi_t + lambda x_*> >= "
       "0. This asks for less than convexity. With decoupled decay the target is the point where "
       "phi(x) + lambda x = 0, which is not the minimiser of the loss and depends on the direction "
       "that is used. With momentum it fails near the target, and averaging takes its place.",
       {"T18", "T22"}},
      {"The conceptual method",
       "Section 5.2",
       "The conceptual method divides by sqrt(E_t d_t^2) itself, which nobody can compute in "
       "practice but which is known for the problems used here. One step gives a recursion for the "
       "expected squared distance, and the recursion gives everything else: convergence with "
       "probability one, a plateau for a constant stepsize, and rates for decreasing ones. On pure "
       "noise the recursion is an equality, so there the bounds are tested from both sides.",
       {"T2", "T7", "T4", "T5", "T6", "T16"}},
      {"The conceptual method without decay",
       "Section 5.2",
       "With lambda = 0 nothing pulls towards a point by itself, and aiming has to be stronger for "
       "the same conclusions: <e, phi> >= 0 alone is not enough.",
       {"T3", "T8", "T23"}},
      {"From the conceptual to the practical method",
       "Section 5.3",
       "The practical method divides by sqrt(v_t + eps). How far its expected step is from the "
       "conceptual one splits into a part from the bias of v_t and a part from its variance; the "
       "aiming condition is weakened by as much, and the iterates reach a neighbourhood of the "
       "target instead of the target.",
       {"T21", "T10", "T11", "T12", "T13", "T14", "T15", "T24"}},
      {"Bias and variance of the estimators",
       "Section 5.4",
       "What a method makes of the theory depends on the bias and the variance of its v_t alone. "
       "Both have closed forms for every estimator of the family.",
       {"T9", "T19"}},
      {"Examples: aiming is not convexity",
       "Appendix A.1",
       "Small problems on which aiming and convexity come apart: functions that are not convex and "
       "yet aim, and a convex quadratic that does not.",
       {"T17"}},
      {"Amplification",
       "behind Section 4",
       "The paper sees spikes of the loss with some methods and not with others. How large can a "
       "single step become, in units of alpha? For each method |d| / sqrt(v) has a bound C, and "
       "sequences of gradients can be made that come near to it.",
       {"T20"}},
  };
  return chapters;
}

const Chapter& further() {
  static const Chapter chapter = {
      "Further claims", "", "Claims that are not part of the paper's own order.", {}};
  return chapter;
}

}  // namespace

std::span<const Chapter> chapters() { return all(); }

std::vector<Stop> tour_of(std::span<const Result> results) {
  std::vector<Stop> tour;
  std::vector<bool> shown(results.size(), false);
  const auto show = [&](Stop& stop, std::size_t i) {
    stop.results.push_back(&results[i]);
    shown[i] = true;
  };
  for (const Chapter& chapter : chapters()) {
    Stop stop{&chapter};
    for (const std::string& id : chapter.claims) {
      for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i].claim->id == id && !shown[i]) show(stop, i);
      }
    }
    if (!stop.results.empty()) tour.push_back(std::move(stop));
  }
  Stop rest{&further()};
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!shown[i]) show(rest, i);
  }
  if (!rest.results.empty()) tour.push_back(std::move(rest));
  return tour;
}

}  // namespace bcos::lab::theory
