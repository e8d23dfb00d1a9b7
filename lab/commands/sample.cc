#include <algorithm>
#include <memory>

#include "engine/error.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/usage.hpp"
#include "lab/commands/commands.hpp"
#include "lab/loop/train.hpp"

namespace bcos::lab::commands {
namespace {

struct Options {
  std::string run;
  std::string prompt;
  std::optional<std::uint64_t> count;
  std::optional<double> temperature;
  std::optional<std::uint64_t> top_k;
  std::optional<std::uint64_t> seed;
  std::string which = "best";
  std::string exported;
  std::string bpe;
};

std::string checkpoint_of(const Options& options) {
  const std::string folder = options.run + "/checkpoints";
  std::vector<std::string> complaints;
  std::optional<run::Checkpoint> chosen;
  if (options.which == "best") chosen = run::best_checkpoint(folder, complaints);
  if (!chosen) chosen = run::latest_checkpoint(folder, complaints);
  if (chosen) {
    for (const std::string& complaint : complaints) {
      cli::warn(fmt::format("{}; '{}' is taken instead", complaint, chosen->path));
    }
    return chosen->path;
  }
  throw fail(ErrorCode::io, "sample", "expected a run with a checkpoint but '{}' has none{}",
             options.run, complaints.empty() ? "" : ": " + complaints.front());
}

void run(const Options& options) {
  if (options.temperature && !(*options.temperature >= 0)) {
    throw cli::misuse("sample", "expected --temperature >= 0 but received {}",
                      *options.temperature);
  }
  const std::string checkpoint = checkpoint_of(options);
  if (!options.exported.empty()) {
    const std::string config = loop::export_gpt2(checkpoint, options.exported);
    cli::print("wrote {}; its config.json: {}\n", options.exported, config);
    return;
  }
  loop::SampleRequest request;
  request.checkpoint = checkpoint;
  request.bpe = options.bpe;
  request.prompt = options.prompt;
  request.count = options.count.value_or(request.count);
  request.temperature = options.temperature.value_or(request.temperature);
  request.top_k = options.top_k.value_or(request.top_k);
  request.seed = options.seed.value_or(request.seed);
  std::string text = loop::sample(request);
  if (cli::terminal().present) {
    // A model of bytes may write what a terminal obeys.
    std::ranges::replace_if(
        text, [](char c) { return c != '\n' && c != '\t' && static_cast<unsigned char>(c) < ' '; },
        '?');
  }
  cli::print("{}\n", text);
}

}  // namespace

void add_sample(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  CLI::App& app =
      program.add("sample", "Write text with a trained GPT",
                  {"bcos sample runs/demo-bcosw_c-lr0.004-seed0 --prompt 'template <class'",
                   "bcos sample runs/try1 --temperature 0 --count 200",
                   "bcos sample runs/try1 --export gpt2.safetensors"},
                  [options] { run(*options); });
  cli::add_text(app, "RUN", "", options->run, "folder of the run")->required();
  cli::add_text(app, "--prompt", "TEXT", options->prompt, "text to go on from (a new line)");
  cli::add_whole(app, "--count", options->count, "tokens to write (500)", 1);
  cli::add_real(app, "--temperature", options->temperature, "0: the likeliest token (0.8)");
  cli::add_whole(app, "--top-k", options->top_k, "of the k likeliest tokens; 0: of all (0)");
  cli::add_whole(app, "--seed", options->seed, "of the drawing (0)");
  cli::add_choice(app, "--checkpoint", options->which, {"best", "latest"},
                  "which checkpoint (best)");
  cli::add_text(app, "--bpe", "FOLDER", options->bpe,
                "GPT-2's encoder.json and vocab.bpe, for a model trained on token files");
  cli::add_text(app, "--export", "FILE", options->exported,
                "write the weights under Hugging Face's GPT-2 names instead");
}

}  // namespace bcos::lab::commands
