#include <csignal>
#include <memory>

#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/table.hpp"
#include "lab/cli/usage.hpp"
#include "lab/commands/commands.hpp"
#include "lab/commands/train/branch.hpp"
#include "lab/commands/train/run_training.hpp"
#include "lab/run/flags.hpp"
#include "lab/run/presets.hpp"

namespace bcos::lab::commands {
namespace {

struct Options {
  run::SettingOptions settings;
  std::string branch;
  bool resume = false;
  bool fresh = false;
  bool quiet = false;
  bool brief = false;
  bool presets = false;
};

void print_presets() {
  cli::Table table({{"preset"}, {"what"}});
  for (const run::Preset& preset : run::presets()) {
    table.add({std::string(preset.name), std::string(preset.about)});
  }
  cli::write_out(table.text());
}

void run(const Options& options) {
  if (options.presets) return print_presets();
  if (options.resume && options.fresh) {
    throw cli::misuse("train", "expected only one of --resume and --fresh but received both");
  }
  const run::Settings settings = run::settings_of(options.settings);
  run::validate(settings);
  RunOptions how;
  how.resume = options.resume;
  how.fresh = options.fresh;
  how.voice = options.quiet             ? run::Voice::quiet
              : cli::terminal().present ? run::Voice::bar
                                        : run::Voice::lines;
  if (!options.quiet && !options.brief)
    cli::print("settings (* changed)\n{}\n", run::settings_table(settings));
  if (!options.branch.empty()) branch_from(options.branch, settings);
  const RunResult result = run_training(settings, how);
  const std::string& directory = result.directory;
  if (!result.did_work) {
    if (!options.quiet) cli::print("{} is finished: nothing to do\n", directory);
    return;
  }
  switch (result.outcome) {
    case run::Outcome::finished:
      if (!options.quiet && !options.brief) cli::print("see {}/report.html\n", directory);
      return;
    case run::Outcome::interrupted:
      if (!options.quiet) cli::print("saved; the same command goes on from here ({})\n", directory);
      throw cli::Ended{result.signal == SIGINT ? cli::kInterrupted : cli::kFine, ""};
    case run::Outcome::diverged:
      throw cli::Ended{
          cli::kDiverged,
          fmt::format("[train] expected finite losses and gradients but {} steps in a row "
                      "had none, nothing was changed by them: lower --lr or lengthen "
                      "--warmup ({})",
                      settings.most_bad_steps, directory)};
  }
}

}  // namespace

void add_train(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  CLI::App& app = program.add(
      "train", "Train a model with any method of the family",
      {"bcos train --preset demo", "bcos train --preset gpt-char --data input.txt --method adamw",
       "bcos train --preset mlp-mnist --lr 0.002 --name try1",
       "bcos train --config runs/try1/config.toml --name try2 --seed 1"},
      [options] { run(*options); });
  cli::add_text(app, "--branch", "RUN@STEP", options->branch,
                "begin from a checkpoint of another run; give a --name of its own");
  app.add_flag("--resume", options->resume, "go on with a run, and refuse to begin one");
  app.add_flag("--fresh", options->fresh, "begin again; the old run is put aside");
  app.add_flag("-q,--quiet", options->quiet, "print nothing");
  app.add_flag("--brief", options->brief, "leave out the table of settings");
  app.add_flag("--presets", options->presets, "list the presets");
  run::add_setting_options(app, options->settings);
}

}  // namespace bcos::lab::commands
