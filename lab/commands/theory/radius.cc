#include "lab/theory/radius.hpp"

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "bcos/methods.hpp"
#include "bcos/text.hpp"
#include "lab/cli/method_text.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/table.hpp"
#include "lab/cli/usage.hpp"
#include "lab/commands/theory/parts.hpp"
#include "lab/theory/limits.hpp"

namespace bcos::lab::commands {
namespace {

using nlohmann::ordered_json;
using numbers::Estimate;
using theory::mean_of_rows;
using theory::stands_for_momentum;
using theory::Vector;
using Estimates = std::vector<numbers::Estimate>;

constexpr std::string_view kCommand = "radius";

struct Options {
  std::string method = "bcosw_c";
  std::string problem = "P1";
  std::optional<double> lambda;
  std::optional<double> alpha;
  std::optional<double> p;
  std::optional<double> beta;
  std::optional<double> beta_v;
  std::optional<std::uint64_t> steps;
  std::optional<std::uint64_t> replicates;
  bool json = false;
};

struct Found {
  Vector x_star;                ///< the gradient's target
  Estimates target;             ///< of the conceptual method that the method stands for
  std::optional<Vector> limit;  ///< by averaging
  Estimates end;
  numbers::Estimate to_target;
  numbers::Estimate rms;
  theory::StepDifference err;
  theory::Radii radii;
  numbers::Estimate mean;  ///< |mean err| / lambda
};

/// What to write instead of a method whose decay is not decoupled.
std::string decoupled_form(const std::string& name, const Method& method) {
  for (const auto& [id, other] : named_methods()) {
    Method coupled = *other;
    coupled.decay = method.decay;
    coupled.lambda = method.lambda;
    if (other->decay == Decay::decoupled && coupled == method) return std::string(id);
  }
  return name.starts_with('{') || name.starts_with('@')
             ? R"("decay": "decoupled")"
             : fmt::format(R"('{{"method": "{}", "decay": "decoupled"}}')", name);
}

Method method_of(const Options& options, double lambda) {
  const Method method = cli::as_usage([&] { return cli::method_given(options.method); });
  if (method.decay != Decay::decoupled) {
    throw cli::misuse(kCommand, "expected a method with decoupled decay but received '{}'; take {}",
                      options.method, decoupled_form(options.method, method));
  }
  if (method.rule != StepRule::sqrt || method.block_gain != BlockGain::one) {
    throw cli::misuse(kCommand, "expected rule sqrt and block_gain one but received {} and {}",
                      name(method.rule), name(method.block_gain));
  }
  return cli::as_usage([&] {
    return with(method, {.beta = options.beta, .beta_v = options.beta_v, .lambda = lambda});
  });
}

theory::Simulation simulation_of(const Options& options, const theory::Problem& problem) {
  const double lambda = options.lambda.value_or(problem.lambda());
  const theory::Stepsizes stepsizes{options.alpha.value_or(1), options.p.value_or(0.75)};
  if (!(stepsizes.alpha > 0)) {
    throw cli::misuse(kCommand, "expected --alpha > 0 but received {}", stepsizes.alpha);
  }
  if (!(stepsizes.p >= 0 && stepsizes.p <= 1)) {
    throw cli::misuse(kCommand, "expected --p in [0, 1] but received {}", stepsizes.p);
  }
  if (!(lambda > 0 && stepsizes.alpha * lambda <= 1)) {
    throw cli::misuse(
        kCommand,
        "expected --lambda in (0, {:g}], for runs begin with alpha = {:g} and alpha lambda "
        "<= 1 is asked for, but received {}",
        1 / stepsizes.alpha, stepsizes.alpha, lambda);
  }
  Vector mean(problem.size());
  Vector second(problem.blocks());
  if (!problem.moments(problem.start(), mean, second)) {
    throw cli::misuse(kCommand, "expected a problem whose moments are known but received {}",
                      options.problem);
  }
  if (!problem.target(lambda)) {
    throw cli::misuse(
        kCommand, "expected a problem with a target at lambda = {} but received {}, which has none",
        lambda, options.problem);
  }
  return {.problem = problem,
          .method = method_of(options, lambda),
          .stepsizes = stepsizes,
          .steps = options.steps.value_or(20000),
          .replicates = options.replicates.value_or(128),
          .key = theory::key_of("radius")};
}

Found find(const theory::Simulation& simulation) {
  constexpr std::size_t kStates = 32;
  constexpr std::uint64_t kSamples = 8192;
  const theory::Problem& problem = simulation.problem;
  const Method& method = simulation.method;
  const std::size_t n = problem.size();
  Found found;
  found.x_star = *problem.target(method.lambda);
  found.target = *theory::aim_of(simulation);
  found.limit = theory::exact_limit(problem, method, method.lambda);
  const theory::Tail tail = theory::tail_of(simulation, kStates);
  found.end = theory::mean_of_rows(tail.points, n);
  Vector target;
  for (const numbers::Estimate& x : found.target) target.push_back(x.value);
  found.to_target = theory::distance(found.end, found.target);
  found.rms = theory::rms_distance(tail, target);
  if (!std::isfinite(found.rms.value)) {
    throw fail(kCommand, "expected runs that stay finite but they did not");
  }
  found.err =
      theory::step_difference(problem, method, tail, kSamples, theory::key_of("radius/fresh"));
  found.radii = theory::radii_of(found.err.largest, found.err.largest_norm, problem, method,
                                 method.lambda, target);
  found.mean = theory::distance(theory::mean_of_rows(tail.differences, n), Vector(n));
  found.mean.value /= method.lambda;
  found.mean.se /= method.lambda;
  return found;
}

std::string number(double value) { return fmt::format("{:.5g}", value); }
std::string number(const numbers::Estimate& estimate) {
  if (estimate.se == 0) return number(estimate.value);
  return fmt::format("{} ± {:.1g}", number(estimate.value), estimate.se);
}

template <class T>
void add_point(cli::Table& table, const std::string& what, const std::vector<T>& point) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> row = {what};
  for (std::size_t i = 0; i < kShown; ++i) {
    row.push_back(i < point.size() ? number(point[i]) : "");
  }
  row.emplace_back(point.size() > kShown ? "..." : "");
  table.add(std::move(row));
}

void print_text(const theory::NamedProblem& named, const theory::Simulation& simulation,
                const Found& found) {
  const bool momentum = theory::stands_for_momentum(simulation.method);
  cli::print("{} on {} ({})\n", cli::summary_of(simulation.method), named.id, named.summary);
  cli::print(
      "alpha_t = {:g} / (t+1)^{:g}, {} steps, {} replicates; the tail is the second half\n\n",
      simulation.stepsizes.alpha, simulation.stepsizes.p, simulation.steps, simulation.replicates);
  cli::Table points({{"point"},
                     {"", cli::Align::right},
                     {"", cli::Align::right},
                     {"", cli::Align::right},
                     {"", cli::Align::right},
                     {""}});
  add_point(points, momentum ? "x_* of the gradient" : "x_*, the target", found.x_star);
  if (momentum) add_point(points, "x_* of momentum, the target", found.target);
  if (found.limit) add_point(points, "limit by averaging", *found.limit);
  add_point(points, "mean of the tail", found.end);
  cli::write_out(points.text());

  const auto c = amplification_bound(simulation.method);
  cli::Table bounds({{"distance from the target"}, {"", cli::Align::right}, {"where"}});
  bounds.add({"seen: mean of the tail", number(found.to_target), ""});
  bounds.add({"seen: root mean square of the tail", number(found.rms), ""});
  bounds.add({"mean: |mean err| / lambda", number(found.mean), ""});
  bounds.add({"sharper: sup |err| / lambda", number(found.radii.sharper),
              fmt::format("|err| {}", number(found.err.largest_norm))});
  bounds.add({"paper: 2 sqrt(n) s / lambda", number(found.radii.paper),
              fmt::format("s = sup max_k |err_k| {}", number(found.err.largest))});
  bounds.add({"trivial: sqrt(n) C / lambda + |x_*|",
              found.radii.trivial ? number(*found.radii.trivial) : "none",
              c ? fmt::format("C {}", number(*c)) : "C is not finite"});
  cli::print("\n{}", bounds.text());
  cli::print(
      "\nerr_t = E_t[d / sqrt(v+eps)] - phi_t, by fresh samples at states of the tail; its mean\n"
      "norm is {}, and the suprema are the largest seen, ± {:.1g}\n",
      number(found.err.mean_norm), found.err.sampling_error);
}

ordered_json to_json(const numbers::Estimate& estimate) {
  return {{"value", estimate.value}, {"standard_error", estimate.se}};
}
ordered_json to_json(const Estimates& point) {
  ordered_json values = ordered_json::array();
  ordered_json errors = ordered_json::array();
  for (const numbers::Estimate& x : point) {
    values.push_back(x.value);
    errors.push_back(x.se);
  }
  return {{"point", std::move(values)}, {"standard_error", std::move(errors)}};
}
template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

void print_json(const theory::NamedProblem& named, const theory::Simulation& simulation,
                const Found& found) {
  const bool momentum = theory::stands_for_momentum(simulation.method);
  const ordered_json all = {{"problem", named.id},
                            {"method", ordered_json::parse(to_json(simulation.method))},
                            {"steps", simulation.steps},
                            {"replicates", simulation.replicates},
                            {"x_star", found.x_star},
                            {"target_of", momentum ? "momentum" : "gradient"},
                            {"target", to_json(found.target)},
                            {"limit", or_null(found.limit)},
                            {"tail_mean", to_json(found.end)},
                            {"distance", to_json(found.to_target)},
                            {"rms_distance", to_json(found.rms)},
                            {"err",
                             {{"largest", found.err.largest},
                              {"largest_norm", found.err.largest_norm},
                              {"mean_norm", to_json(found.err.mean_norm)},
                              {"sampling_error", found.err.sampling_error}}},
                            {"radii",
                             {{"paper", found.radii.paper},
                              {"sharper", found.radii.sharper},
                              {"trivial", or_null(found.radii.trivial)},
                              {"mean", to_json(found.mean)}}}};
  cli::print("{}\n", all.dump(2));
}

void run(const Options& options) {
  const theory::NamedProblem& named = cli::as_usage(
      [&]() -> const theory::NamedProblem& { return theory::problem_by_id(options.problem); });
  const auto problem = named.make();
  const theory::Simulation simulation = simulation_of(options, *problem);
  const Found found = find(simulation);
  if (options.json) return print_json(named, simulation, found);
  print_text(named, simulation, found);
}

}  // namespace

void add_theory_radius(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  CLI::App& app = program.add(
      "theory radius", "How near a method comes to its target, and what bounds say of it",
      {"bcos theory radius", "bcos theory radius --method adamw@paper --lambda 0.3",
       R"(bcos theory radius --method '{"method": "sign_sgd", "decay": "decoupled"}')",
       "bcos theory radius --method bcosw_g --problem P6 --json"},
      [options] { run(*options); });
  cli::add_text(app, "--method", "NAME", options->method,
                "a method with decoupled decay: its name, JSON, or @FILE (bcosw_c)");
  cli::add_text(app, "--problem", "ID", options->problem, "P0 to P6, or one of your own (P1)");
  cli::add_real(app, "--lambda", options->lambda,
                "decay, > 0, alpha lambda <= 1 (the problem's own)");
  cli::add_real(app, "--alpha", options->alpha, "first stepsize of alpha / (t+1)^p (1)");
  cli::add_real(app, "--p", options->p, "its exponent, in [0, 1] (0.75)");
  cli::add_real(app, "--beta", options->beta, "smoothing of m, in [0, 1)");
  cli::add_real(app, "--beta-v", options->beta_v, "smoothing of v, in [0, 1)");
  cli::add_whole(app, "--steps", options->steps, "length of a run (20000)", 100);
  cli::add_whole(app, "--replicates", options->replicates, "how many runs (128)", 2);
  app.add_flag("--json", options->json, "JSON for programs");
  cli::add_threads(app);
}

}  // namespace bcos::lab::commands
