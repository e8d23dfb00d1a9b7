#include <memory>

#include "bcos/text.hpp"
#include "lab/cli/files.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/table.hpp"
#include "lab/cli/usage.hpp"
#include "lab/commands/commands.hpp"
#include "lab/commands/schedule/schedule_options.hpp"
#include "lab/commands/schedule/schedule_steps.hpp"

namespace bcos::lab::commands {
namespace {

constexpr std::uint64_t kRows = 40;
constexpr std::uint64_t kMostRows = 10'000'000;

struct Options {
  ScheduleOptions schedule;
  std::optional<std::uint64_t> steps;
  std::optional<std::uint64_t> every;
  std::string svg;
  std::string format;
};

void print_table(const Schedule& schedule, const std::vector<std::uint64_t>& shown,
                 std::uint64_t steps) {
  cli::Table table({{"t", cli::Align::right}, {"alpha"}});
  for (const std::uint64_t t : shown) {
    table.add({fmt::format("{}", t), fmt::format("{:.8g}", alpha_at(schedule, t))});
  }
  cli::print("{}\n\n{}", title_of(schedule), table.text());
  const cli::Terminal where = cli::terminal();
  if (where.present) cli::print("\n{}", plot::text_of(plot_of(schedule, steps), where));
}

void print_csv(const Schedule& schedule, const std::vector<std::uint64_t>& shown) {
  cli::print("t,alpha\n");
  for (const std::uint64_t t : shown) cli::print("{},{}\n", t, alpha_at(schedule, t));
}

void print_json(const Schedule& schedule, const std::vector<std::uint64_t>& shown) {
  cli::print("{{\"schedule\": {},\n\"t\": [", to_json(schedule));
  const char* before = "";
  for (const std::uint64_t t : shown) {
    cli::print("{}{}", before, t);
    before = ", ";
  }
  cli::print("],\n\"alpha\": [");
  before = "";
  for (const std::uint64_t t : shown) {
    cli::print("{}{}", before, alpha_at(schedule, t));
    before = ", ";
  }
  cli::print("]}}\n");
}

void print_values(const Options& options, const Schedule& schedule, std::uint64_t steps) {
  const bool table = options.format.empty() || options.format == "table";
  const std::uint64_t every = options.every.value_or(table ? round_every(steps, kRows) : 1);
  if (steps / every >= kMostRows) {
    throw cli::misuse("schedule",
                      "expected --every to leave fewer than {} rows but received {} of {}",
                      kMostRows, every, steps);
  }
  const std::vector<std::uint64_t> shown = shown_steps(steps, every);
  if (table) return print_table(schedule, shown, steps);
  if (options.format == "csv") return print_csv(schedule, shown);
  print_json(schedule, shown);
}

void run(const Options& options) {
  const Schedule schedule = schedule_of(options.schedule);
  const std::uint64_t steps = options.steps.value_or(natural_steps(schedule));
  if (!options.svg.empty()) {
    cli::write_text(options.svg, plot::svg_of(plot::figure_of(plot_of(schedule, steps))));
    if (options.svg != "-" && options.format.empty())
      cli::print("wrote {}\n", cli::visible(options.svg));
  }
  if (options.svg.empty() || !options.format.empty()) print_values(options, schedule, steps);
}

}  // namespace

void add_schedule(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  CLI::App& app = program.add(
      "schedule", "Print or draw the stepsize alpha of every step",
      {"bcos schedule --curve cosine --alpha-max 2e-3 --alpha-min 2e-5 --warmup 2000 "
       "--total 100000",
       "bcos schedule --curve wsd --total 1000 --svg alpha.svg",
       "bcos schedule --json '{\"curve\": \"power\", \"p\": 0.6}' --steps 50 --format csv"},
      [options] { run(*options); });
  add_schedule_options(app, options->schedule);
  cli::add_whole(app, "--steps", options->steps, "how many steps to show (default: all of them)",
                 1);
  cli::add_whole(app, "--every", options->every, "show every N-th step (default: about 40 rows)",
                 1);
  cli::add_text(app, "--svg", "FILE", options->svg,
                "draw instead, into this file; - is standard output");
  cli::add_choice(app, "--format", options->format, {"table", "json", "csv"},
                  "json and csv have all steps");
}

}  // namespace bcos::lab::commands
