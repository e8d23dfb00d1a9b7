#include <algorithm>
#include <memory>

#include "engine/error.hpp"
#include "lab/cli/files.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/table.hpp"
#include "lab/commands/check/bits.hpp"
#include "lab/commands/check/golden.hpp"
#include "lab/commands/commands.hpp"
#include "lab/trace/verdict.hpp"

namespace bcos::lab::commands {
namespace {

constexpr std::size_t kMostMissesShown = 10;

struct CheckOptions {
  std::string file;
  bool bits = false;
  std::optional<Target> target;
  std::optional<DType> dtype;
};

trace::Json trace_file(const CheckOptions& options) {
  if (options.file.empty()) return trace::Json::parse(golden_text());
  return cli::parse_json(cli::read_text(options.file), options.file);
}

std::vector<trace::Verdict> verdicts(const CheckOptions& options) {
  const trace::Expected expected = trace::expected_of(trace_file(options));
  std::vector<Target> targets = available_targets();
  if (options.target) targets = {*options.target};
  std::vector<DType> dtypes = {DType::f64, DType::f32};
  if (options.dtype) dtypes = {*options.dtype};
  std::vector<trace::Verdict> all;
  for (const Target target : targets) {
    for (const DType dtype : dtypes) all.push_back(trace::judge(expected, target, dtype));
  }
  return all;
}

void print_table(const std::vector<trace::Verdict>& all) {
  const cli::Terminal where = cli::terminal();
  cli::Table table({{"target"},
                    {"dtype"},
                    {"passed", cli::Align::right},
                    {"", cli::Align::left},
                    {"worst", cli::Align::right},
                    {"at", cli::Align::left}});
  for (const trace::Verdict& verdict : all) {
    const std::size_t passed = verdict.compared - verdict.misses.size();
    const bool fine = verdict.misses.empty();
    table.add(
        {std::string(name(verdict.target)), std::string(name(verdict.dtype)),
         fmt::format("{}/{}", passed, verdict.compared),
         cli::coloured(fine ? "ok" : "MISS", fine ? cli::Colour::green : cli::Colour::red, where),
         fmt::format("{:.3g}", verdict.worst.worst),
         cli::visible(fmt::format("{}: {}", verdict.worst.name, verdict.worst.where))});
  }
  cli::write_out(table.text());
}

void print_misses(const std::vector<trace::Verdict>& all) {
  for (const trace::Verdict& verdict : all) {
    const std::size_t shown = std::min(verdict.misses.size(), kMostMissesShown);
    for (std::size_t i = 0; i < shown; ++i) {
      const trace::CaseMiss& miss = verdict.misses[i];
      cli::print("{} {} missed {}: {:.3g} times the tolerance at {}\n", name(verdict.target),
                 name(verdict.dtype), cli::visible(miss.name), miss.worst, miss.where);
    }
    if (verdict.misses.size() > shown)
      cli::print("... and {} more\n", verdict.misses.size() - shown);
  }
}

void check_traces(const CheckOptions& options) {
  const std::vector<trace::Verdict> all = verdicts(options);
  print_table(all);
  print_misses(all);
  std::size_t compared = 0;
  std::size_t missed = 0;
  for (const trace::Verdict& verdict : all) {
    compared += verdict.compared;
    missed += verdict.misses.size();
  }
  if (missed > 0) {
    throw fail(ErrorCode::mismatch, "check",
               "expected every trace within its tolerance but received {} of {} outside", missed,
               compared);
  }
  cli::print("{} traces compared, all within tolerance (worst: in units of the tolerance)\n",
             compared);
}

void check(const CheckOptions& options) {
  if (!options.bits) return check_traces(options);
  for (const std::string& line : bits_lines(cli::chosen_target(options.target)))
    cli::print("{}\n", line);
}

}  // namespace

void add_check(cli::Program& program) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App& app =
      program.add("check", "Compare the results of all kernels here with the golden traces",
                  {"bcos check", "bcos check --file my_traces.json",
                   "bcos check --bits > here.txt      (then cmp it with another machine's)"},
                  [options] { check(*options); });
  CLI::Option* file = cli::add_text(app, "--file", "FILE", options->file,
                                    "compare the traces of this file, not the golden ones");
  app.add_flag("--bits", options->bits, "print checksums of results, the same on every machine")
      ->excludes(file)
      ->excludes(cli::add_dtype(app, options->dtype, "both"));
  cli::add_target(app, options->target);
  cli::add_threads(app);
}

}  // namespace bcos::lab::commands
