#include "lab/diagnosis/null_cosine.hpp"

#include <cmath>

namespace bcos::lab::diagnosis {

std::vector<std::optional<double>> null_cosines(std::span<const double> lengths, double beta) {
  std::vector<std::optional<double>> cosines(lengths.size());
  double ahead = 0;    // sum_{s>t} a_s beta^{s-t-1}
  double squared = 0;  // |sum_{s>t} steps|^2 in the mean
  for (std::size_t t = lengths.size(); t-- > 0;) {
    const double a = lengths[t];
    squared += a * a + 2 * a * beta * ahead;
    ahead = a + beta * ahead;
    if (squared > 0) cosines[t] = ahead / std::sqrt(squared);
  }
  return cosines;
}

double null_cosine(double beta, std::uint64_t left) {
  const double w = 1 - beta;
  const auto steps = static_cast<double>(left);
  const double faded = 1 - std::pow(beta, steps);
  return faded / w / std::sqrt(steps * (1 + beta) / w - 2 * beta * faded / (w * w));
}

double gradient_part(double beta) { return std::sqrt((1 - beta) * (1 + beta)); }

}  // namespace bcos::lab::diagnosis
