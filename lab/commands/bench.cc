#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "bcos/executor.hpp"
#include "bcos/methods.hpp"
#include "bcos/text.hpp"
#include "lab/bench/goals.hpp"
#include "lab/bench/machine.hpp"
#include "lab/bench/runners.hpp"
#include "lab/bench/sampler.hpp"
#include "lab/cli/files.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/table.hpp"
#include "lab/cli/usage.hpp"
#include "lab/commands/commands.hpp"

namespace bcos::lab::commands {
namespace {

struct Options {
  std::string what = "step";
  std::string json;
  std::string methods;
  std::optional<DType> given_dtype;
  DType dtype() const { return given_dtype.value_or(DType::f32); }
  bool quick = false;
  std::optional<std::uint64_t> processes;
  std::string only;
};

constexpr std::uint64_t kMostProcesses = 1000;

using Shapes = std::vector<std::vector<std::int64_t>>;

/// One cell of the table of steps.
struct Cell {
  std::string method;
  std::string layout;
  Shapes shapes;
  std::uint64_t elements;
  int threads;
};

/// What is being measured, on a terminal.
void show_progress(std::size_t done, std::size_t all, const std::string& what) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::fprintf(stderr, "\r\033[K[%zu/%zu] %s", done + 1, all, what.c_str());
  if (done == all) std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

std::vector<std::string> method_names(const Options& options) {
  std::vector<std::string> names;
  if (!options.methods.empty()) {
    for (const std::string& name : cli::split(options.methods, ',')) {
      cli::as_usage([&] { return method_by_name(name); });
      names.push_back(name);
    }
  } else if (options.quick) {
    names = {"bcosw_c", "adamw"};
  } else {
    for (const NamedMethod& named : named_methods()) names.emplace_back(named.id);
  }
  return names;
}

std::vector<Cell> cells_of(const Options& options) {
  std::vector<Cell> cells;
  std::vector<int> threads = {1};
  if (default_threads() > 1) threads.push_back(default_threads());
  // A step and its limit, each with up to four arrays.
  const std::uint64_t most = bench::available_memory() / (9 * bytes_of(options.dtype()));
  for (const std::string& method : method_names(options)) {
    for (const int count : threads) {
      const auto add = [&](const std::string& layout, Shapes shapes) {
        std::uint64_t elements = 0;
        for (const auto& shape : shapes) elements += element_count(shape);
        if (elements <= most) cells.push_back({method, layout, std::move(shapes), elements, count});
      };
      for (std::int64_t n = 10'000; n <= (options.quick ? 10'000'000 : 100'000'000); n *= 10) {
        add("array", {{n}});
      }
      if (!options.quick) add("gpt2", bench::gpt2_shapes());
      add("10000x1000", bench::small_shapes());
    }
  }
  return cells;
}

struct CellTimes {
  bench::PairedTimes times;
  double bytes_per_parameter = 0;
};

CellTimes measure(const Cell& cell, const Options& options) {
  const Method method = method_by_name(cell.method);
  bench::StepRunner step(method, options.dtype(), cell.shapes, {.threads = cell.threads});
  bench::LimitRunner limit(method, options.dtype(), cell.elements, cell.threads);
  const int pairs = options.quick ? 9 : 31;
  const int repeats = static_cast<int>(std::max<std::uint64_t>(1, 1'000'000 / cell.elements));
  return {bench::measure_pairs([&] { limit.step(); }, [&] { step.step(); }, pairs, repeats),
          step.bytes_per_parameter()};
}

/// Before all that takes time: a file that cannot be written is found now.
void begin(const Options& options) {
  if (!options.json.empty()) cli::check_writable(options.json);
  cli::print("{}\n\n", bench::machine_line());
  cli::flush_out();
}

void bench_steps(const Options& options) {
  const std::vector<Cell> cells = cells_of(options);
  begin(options);
  cli::Table table({{"method"},
                    {"layout"},
                    {"n", cli::Align::right},
                    {"threads", cli::Align::right},
                    {"ns/param", cli::Align::right},
                    {"bytes/param", cli::Align::right},
                    {"over limit", cli::Align::right},
                    {"quartiles", cli::Align::right}});
  std::string rows;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    show_progress(i, cells.size(),
                  fmt::format("{} {} {:g}, {} threads", cell.method, cell.layout,
                              static_cast<double>(cell.elements), cell.threads));
    const auto [times, bytes] = measure(cell, options);
    const double nanoseconds = times.candidate_seconds / static_cast<double>(cell.elements) * 1e9;
    table.add({cell.method, cell.layout, fmt::format("{}", cell.elements),
               fmt::format("{}", cell.threads), fmt::format("{:.3f}", nanoseconds),
               fmt::format("{:g}", bytes), fmt::format("{:.3f}", times.ratio.median),
               fmt::format("{:.3f} {:.3f}", times.ratio.low, times.ratio.high)});
    const nlohmann::ordered_json row = {
        {"method", cell.method},           {"dtype", name(options.dtype())},
        {"layout", cell.layout},           {"n", cell.elements},
        {"threads", cell.threads},         {"target", name(default_target())},
        {"ns_per_param", nanoseconds},     {"bytes_per_param", bytes},
        {"over_limit", times.ratio.median}};
    rows += row.dump() + "\n";
  }
  show_progress(cells.size(), cells.size(), "");
  cli::write_out(table.text());
  cli::print(
      "\nover limit: time over that of the same streams with trivial arithmetic, in turn.\n");
  if (!options.json.empty()) cli::write_text(options.json, rows);
}

std::vector<bench::Goal> chosen_goals(const Options& options) {
  std::vector<bench::Goal> goals = bench::speed_goals();
  std::erase_if(goals, [&](const bench::Goal& goal) {
    return goal.what.find(options.only) == std::string::npos;
  });
  if (goals.empty()) {
    throw cli::misuse(
        "bench",
        "expected --only as a part of a goal's name, 'limit', 'rows' or '1 thread' for "
        "instance, but received '{}'",
        options.only);
  }
  return goals;
}

void bench_goals(const Options& options) {
  const std::vector<bench::Goal> goals = chosen_goals(options);
  begin(options);
  const int processes = static_cast<int>(options.processes.value_or(options.quick ? 1 : 5));
  const int pairs = options.quick ? 9 : 31;
  cli::Table table({{"what"},
                    {"measured", cli::Align::right},
                    {"to reach", cli::Align::right},
                    {""},
                    {"unrest", cli::Align::right}});
  std::string rows;
  std::size_t restless = 0;
  for (std::size_t i = 0; i < goals.size(); ++i) {
    const bench::Goal& goal = goals[i];
    show_progress(i, goals.size(), goal.what);
    const auto [ratio, unrest] = bench::measured_in_processes(goal, processes, pairs);
    if (unrest > bench::kQuiet) ++restless;
    table.add({goal.what, fmt::format("{:.3f}", ratio), fmt::format("{:.2f}", goal.to_reach),
               ratio <= goal.to_reach ? "reached" : "missed", fmt::format("{:.3f}", unrest)});
    const nlohmann::ordered_json row = {
        {"what", goal.what}, {"ratio", ratio}, {"to_reach", goal.to_reach}, {"unrest", unrest}};
    rows += row.dump() + "\n";
  }
  show_progress(goals.size(), goals.size(), "");
  cli::write_out(table.text());
  cli::print("\nmedian over {} process{} of the median of {} pairs, in turn.\n", processes,
             processes == 1 ? "" : "es", pairs);
  cli::print(
      "unrest: upper over lower quartile of the times that the measured one is compared with.\n");
  if (restless > 0) {
    cli::print("In {} of {} rows it is above {:g}: the machine was not quiet, measure again.\n",
               restless, goals.size(), bench::kQuiet);
  }
  if (!options.json.empty()) cli::write_text(options.json, rows);
}

/// Each kind of measurement has options of its own.
void check(const Options& options) {
  const bool goals = options.what == "goals";
  const auto refuse = [&](bool given, const char* option) {
    if (!given) return;
    throw cli::misuse("bench", "expected {} with 'bench {}' but received it with 'bench {}'",
                      option, goals ? "step" : "goals", options.what);
  };
  refuse(goals && !options.methods.empty(), "--methods");
  refuse(goals && options.given_dtype.has_value(), "--dtype");
  refuse(!goals && options.processes.has_value(), "--processes");
  refuse(!goals && !options.only.empty(), "--only");
}

void run(const Options& options) {
  check(options);
  if (options.what == "goals") {
    bench_goals(options);
  } else {
    bench_steps(options);
  }
}

}  // namespace

void add_bench(cli::Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& command = program.add(
      "bench", "Measure a step against what memory allows",
      {"bcos bench --quick", "bcos bench step --methods bcosw_c,adamw --json steps.jsonl",
       "bcos bench goals", "bcos bench goals --only rows"},
      [options] { run(*options); });
  cli::add_choice(command, "what", options->what, {"step", "goals"},
                  "step: every method, size and layout over its limit; goals: the ratios to keep");
  cli::add_text(command, "--json", "FILE", options->json, "also write the rows as JSON lines");
  cli::add_text(command, "--methods", "A,B", options->methods,
                "step: methods to measure (default: all named ones)");
  cli::add_dtype(command, options->given_dtype, "f32, and that of goals");
  cli::add_whole(command, "--processes", options->processes,
                 "goals: processes to take the median of (default 5)", 1, kMostProcesses);
  cli::add_text(command, "--only", "TEXT", options->only,
                "goals: those with TEXT in their name (default: all)");
  command.add_flag("--quick", options->quick, "fewer methods, sizes and samples");
}

}  // namespace bcos::lab::commands
