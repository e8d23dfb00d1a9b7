#include <memory>

#include "lab/cli/files.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/commands/commands.hpp"
#include "lab/commands/trace_writer.hpp"

namespace bcos::lab {
namespace {

struct Options {
  std::string file;
  std::optional<DType> dtype;
  ReplayOptions replay;
};

void run(Options options) {
  options.replay.dtype = options.dtype.value_or(DType::f64);
  options.replay.target = chosen_target(options.replay.target);
  const Json file = parse_json(read_text(options.file), options.file);
  write_out(trace_file_text(replayed(file, options.replay)));
}

}  // namespace

void add_replay(Program& program) {
  const auto options = std::make_shared<Options>();
  CLI::App& app = program.add(
      "replay", "Run the cases of a trace file and write it with what each step gave",
      {"bcos replay cases.json > traces.json", "bcos replay --dtype f32 - < cases.json"},
      [options] { run(*options); });
  add_text(app, "FILE", "", options->file, "trace file; - reads standard input")->required();
  add_dtype(app, options->dtype, "f64");
  add_target(app, options->replay.target);
  add_threads(app);
}

}  // namespace bcos::lab
