#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/table.hpp"
#include "lab/cli/usage.hpp"
#include "lab/commands/theory/parts.hpp"
#include "lab/theory/one_step.hpp"
#include "lab/theory/sampled_moments.hpp"
#include "lab/theory/step_difference.hpp"

namespace bcos::lab::commands {
namespace {

using nlohmann::ordered_json;
using numbers::Estimate;
using theory::EstimatorMoments;
using theory::Law;

constexpr std::uint64_t kSamples = 1'000'000;
constexpr std::uint64_t kMostSamples = 1'000'000'000;

struct Options {
  std::optional<double> beta;
  std::optional<double> mu;
  std::optional<double> sigma;
  std::string noise = "gaussian";
  std::optional<double> beta_v;
  std::optional<double> m;
  std::optional<double> v;
  std::optional<std::uint64_t> samples;
  bool json = false;
};

/// What was asked for, all of it within bounds.
struct Question {
  double beta;
  std::optional<double> beta_v;
  theory::Law law;
  double m;
  double v;
  std::uint64_t samples;
};

void check(bool fine, std::string_view option, std::string_view bounds, double value) {
  if (fine) return;
  throw cli::misuse("estimators", "expected {} in {} but received {:g}", option, bounds, value);
}

/// An option that has no usual value.
double given(const std::optional<double>& value, std::string_view option) {
  if (!value) throw cli::misuse("estimators", "expected {} but received nothing", option);
  return *value;
}

Question question_of(const Options& options) {
  const double beta = given(options.beta, "--beta");
  const double mu = given(options.mu, "--mu");
  const double sigma = given(options.sigma, "--sigma");
  const auto size = [](double value) { return std::abs(value) <= 1e30; };  // not NaN either
  check(beta >= 0 && beta < 1, "--beta", "[0, 1)", beta);
  check(size(mu), "--mu", "[-1e30, 1e30]", mu);
  check(sigma > 0 && size(sigma), "--sigma", "(0, 1e30]", sigma);
  if (options.beta_v) {
    check(*options.beta_v > 0 && *options.beta_v < 1, "--beta-v", "(0, 1)", *options.beta_v);
  }
  const double m = options.m.value_or(mu);
  check(size(m), "--m", "[-1e30, 1e30]", m);
  const double v = options.v.value_or(mu * mu + sigma * sigma);
  check(v >= 0 && v <= 1e61, "--v", "[0, 1e61]", v);
  const std::uint64_t samples = options.samples.value_or(kSamples);
  if (samples > kMostSamples) {
    throw cli::misuse("estimators", "expected --samples in 2..{} but received {}", kMostSamples,
                      samples);
  }
  const auto kind =
      options.noise == "gaussian" ? theory::Law::Kind::gaussian : theory::Law::Kind::exponential;
  return {beta, options.beta_v, {kind, mu, sigma}, m, v, samples};
}

struct Answer {
  theory::NamedEstimator row;
  theory::EstimatorMoments exact;
  theory::SampledMoments sampled;
  double difference = 0;  ///< E[d/sqrt(v)] - E d/sqrt(E d^2), by quadrature
  std::optional<double> bound;

  double sampled_snr() const {
    const double mean = exact.d.second() + sampled.bias.value;
    return mean * mean / sampled.variance.value;
  }
  numbers::Estimate sampled_difference() const {
    return {sampled.step.value - exact.phi(), sampled.step.se};
  }
};

std::vector<Answer> answers(const Question& question) {
  const auto rows = theory::estimators(question.beta, question.beta_v);
  std::vector<Method> methods;
  methods.reserve(rows.size());
  for (const auto& row : rows) methods.push_back(row.method);
  const auto sampled = theory::sampled_moments(methods, question.m, question.v, question.law,
                                               question.samples, theory::key_of("estimators"));
  std::vector<Answer> all;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    Answer answer{rows[k],
                  theory::moments_of(methods[k], question.m, question.v, question.law.moments()),
                  sampled[k],
                  0,
                  {}};
    const theory::States states{.m = {question.m}, .v = {question.v}};
    answer.difference =
        theory::expected_step(methods[k], states, question.law).mean - answer.exact.phi();
    if (const auto c = amplification_bound(methods[k])) {
      answer.bound =
          theory::bias_part(answer.exact, 0) + theory::variance_part(answer.exact, 0, *c);
    }
    all.push_back(std::move(answer));
  }
  return all;
}

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : "-";
}

std::string number(const numbers::Estimate& value) {
  return fmt::format("{} ± {:.1g}", number(value.value), value.se);
}

void print_table(const Question& question, const Options& options) {
  cli::Table table({{"method"},
                    {"estimator"},
                    {"bias", cli::Align::right},
                    {"sampled", cli::Align::right},
                    {"Var v", cli::Align::right},
                    {"sampled", cli::Align::right},
                    {"Cov(d,v)", cli::Align::right},
                    {"sampled", cli::Align::right},
                    {"SNR(v)", cli::Align::right},
                    {"sampled", cli::Align::right},
                    {"step difference", cli::Align::right},
                    {"sampled", cli::Align::right},
                    {"bound", cli::Align::right}});
  for (const Answer& answer : answers(question)) {
    const theory::EstimatorMoments& exact = answer.exact;
    const theory::SampledMoments& sampled = answer.sampled;
    table.add({answer.row.id, answer.row.what, number(exact.bias), number(sampled.bias),
               number(exact.variance), number(sampled.variance), number(exact.covariance),
               number(sampled.covariance), number(exact.snr()), number(answer.sampled_snr()),
               number(answer.difference), number(answer.sampled_difference()),
               answer.bound ? number(*answer.bound) : "-"});
  }
  cli::print("{} noise, E g = {:g}, sd(g) = {:g}; beta = {:g}, m = {:g}, v = {:g}; {} samples\n\n",
             options.noise, question.law.mean, question.law.sd, question.beta, question.m,
             question.v, question.samples);
  cli::write_out(table.text());
  cli::print(
      "\nbias: E v - E d^2; SNR(v): (E v)^2 / Var v; step difference: E[d/sqrt(v)] -\n"
      "E d/sqrt(E d^2), all given m and v from the step before. bound: the most that the\n"
      "step difference can be, from bias, variance and |d| <= C sqrt(v).\n");
}

ordered_json number_json(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

ordered_json both(double exact, const numbers::Estimate& sampled) {
  return {{"exact", number_json(exact)},
          {"sampled", number_json(sampled.value)},
          {"standard_error", number_json(sampled.se)}};
}

void print_json(const Question& question, const Options& options) {
  ordered_json rows = ordered_json::array();
  for (const Answer& answer : answers(question)) {
    const theory::EstimatorMoments& exact = answer.exact;
    const bool reads = numbers_used(answer.row.method).beta_v;
    rows.push_back(
        {{"method", answer.row.id},
         {"estimator", answer.row.what},
         {"beta_v", reads ? ordered_json(answer.row.method.beta_v) : ordered_json(nullptr)},
         {"mean_d", exact.d.mean},
         {"second_moment_d", exact.d.second()},
         {"bias", both(exact.bias, answer.sampled.bias)},
         {"variance", both(exact.variance, answer.sampled.variance)},
         {"covariance", both(exact.covariance, answer.sampled.covariance)},
         {"snr",
          {{"exact", number_json(exact.snr())}, {"sampled", number_json(answer.sampled_snr())}}},
         {"step_difference", both(answer.difference, answer.sampled_difference())},
         {"bound", answer.bound ? ordered_json(*answer.bound) : ordered_json(nullptr)}});
  }
  const ordered_json document = {{"noise", options.noise},
                                 {"mu", question.law.mean},
                                 {"sigma", question.law.sd},
                                 {"beta", question.beta},
                                 {"m", question.m},
                                 {"v", question.v},
                                 {"samples", question.samples},
                                 {"estimators", std::move(rows)}};
  cli::print("{}\n", document.dump(2));
}

}  // namespace

void add_theory_estimators(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  CLI::App& app = program.add(
      "theory estimators", "Bias and variance of every second-moment estimator, for your numbers",
      {"bcos theory estimators --beta 0.9 --mu 0.3 --sigma 1",
       "bcos theory estimators --beta 0.9 --mu 0 --sigma 1 --noise exponential --m 0.2 --v 0.5"},
      [options] {
        const Question question = question_of(*options);
        if (options->json) return print_json(question, *options);
        print_table(question, *options);
      });
  cli::add_real(app, "--beta", options->beta, "smoothing of m, in [0, 1); must be given");
  cli::add_real(app, "--mu", options->mu, "mean of g; must be given");
  cli::add_real(app, "--sigma", options->sigma, "standard deviation of g, > 0; must be given");
  cli::add_choice(app, "--noise", options->noise, {"gaussian", "exponential"},
                  "law of g (gaussian); the exponential one has skewness 2");
  cli::add_real(app, "--beta-v", options->beta_v,
                "smoothing of v, in (0, 1) (each method's own: 0.9, adam 0.99, adams 0.95)");
  cli::add_real(app, "--m", options->m, "m of the step before (mu)");
  cli::add_real(app, "--v", options->v, "v of the step before (mu^2 + sigma^2)");
  cli::add_whole(app, "--samples", options->samples, "how many steps to sample (1000000)", 2);
  app.add_flag("--json", options->json, "JSON for programs");
  cli::add_threads(app);
}

}  // namespace bcos::lab::commands
