#include <csignal>
#include <memory>

#include "lab/cli/output.hpp"
#include "lab/cli/table.hpp"
#include "lab/cli/usage.hpp"
#include "lab/commands/commands.hpp"
#include "lab/commands/setting_options.hpp"
#include "lab/training/presets.hpp"
#include "lab/training/run.hpp"

namespace bcos::lab {
namespace {

struct Options {
  SettingOptions settings;
  bool resume = false;
  bool fresh = false;
  bool quiet = false;
  bool brief = false;
  bool presets = false;
};

void print_presets() {
  Table table({{"preset"}, {"what"}});
  for (const Preset& preset : presets()) {
    table.add({std::string(preset.name), std::string(preset.about)});
  }
  write_out(table.text());
}

void run(const Options& options) {
  if (options.presets) return print_presets();
  if (options.resume && options.fresh) {
    throw misuse("train", "expected only one of --resume and --fresh but received both");
  }
  const Settings settings = settings_of(options.settings);
  validate(settings);
  RunOptions how;
  how.resume = options.resume;
  how.fresh = options.fresh;
  how.voice = options.quiet ? Voice::quiet : terminal().present ? Voice::bar : Voice::lines;
  if (!options.quiet && !options.brief)
    print("settings (* changed)\n{}\n", settings_table(settings));
  const RunResult result = run_training(settings, how);
  const std::string& directory = result.directory;
  if (!result.did_work) {
    if (!options.quiet) print("{} is finished: nothing to do\n", directory);
    return;
  }
  switch (result.outcome) {
    case Outcome::finished:
      if (!options.quiet && !options.brief) print("see {}/report.html\n", directory);
      return;
    case Outcome::interrupted:
      if (!options.quiet) print("saved; the same command goes on from here ({})\n", directory);
      throw Ended{result.signal == SIGINT ? kInterrupted : kFine, ""};
    case Outcome::diverged:
      throw Ended{kDiverged,
                  fmt::format("[train] expected finite losses and gradients but {} steps in a row "
                              "had none, nothing was changed by them: lower --lr or lengthen "
                              "--warmup ({})",
                              settings.most_bad_steps, directory)};
  }
}

}  // namespace

void add_train(Program& program) {
  const auto options = std::make_shared<Options>();
  CLI::App& app = program.add(
      "train", "Train a model with any method of the family",
      {"bcos train --preset demo", "bcos train --preset gpt-char --data input.txt --method adamw",
       "bcos train --preset mlp-mnist --lr 0.002 --name try1",
       "bcos train --config runs/try1/config.toml --name try2 --seed 1"},
      [options] { run(*options); });
  app.add_flag("--resume", options->resume, "go on with a run, and refuse to begin one");
  app.add_flag("--fresh", options->fresh, "begin again; the old run is put aside");
  app.add_flag("-q,--quiet", options->quiet, "print nothing");
  app.add_flag("--brief", options->brief, "leave out the table of settings");
  app.add_flag("--presets", options->presets, "list the presets");
  add_setting_options(app, options->settings);
}

}  // namespace bcos::lab
