#include <memory>

#include "lab/cli/files.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/commands/commands.hpp"
#include "lab/commands/replay/trace_writer.hpp"

namespace bcos::lab::commands {
namespace {

struct Options {
  std::string file;
  std::optional<DType> dtype;
  trace::ReplayOptions replay;
};

void run(Options options) {
  options.replay.dtype = options.dtype.value_or(DType::f64);
  options.replay.target = cli::chosen_target(options.replay.target);
  const trace::Json file = cli::parse_json(cli::read_text(options.file), options.file);
  cli::write_out(trace_file_text(replayed(file, options.replay)));
}

}  // namespace

void add_replay(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  CLI::App& app = program.add(
      "replay", "Run the cases of a trace file and write it with what each step gave",
      {"bcos replay cases.json > traces.json", "bcos replay --dtype f32 - < cases.json"},
      [options] { run(*options); });
  cli::add_text(app, "FILE", "", options->file, "trace file; - reads standard input")->required();
  cli::add_dtype(app, options->dtype, "f64");
  cli::add_target(app, options->replay.target);
  cli::add_threads(app);
}

}  // namespace bcos::lab::commands
