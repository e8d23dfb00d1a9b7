#include <fmt/ranges.h>

#include <memory>

#include "bcos/safetensors.hpp"
#include "engine/optimizer/state_file.hpp"
#include "lab/cli/method_text.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/table.hpp"
#include "lab/commands/commands.hpp"
#include "lab/commands/inspect/tensor_stats.hpp"

namespace bcos::lab::commands {
namespace {

using safetensors::File;
using safetensors::TensorInfo;

constexpr std::size_t kLongestValue = 100;

struct Options {
  std::string file;
  bool no_verify = false;
  bool stats = false;
};

template <class Shape>
std::string shape_text(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// 1536 bytes as "1.5 KiB".
std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  while (size >= 1024 && unit + 1 < std::size(kUnits)) {
    size /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

bool is_optimizer_file(const File& file) {
  const auto kind = file.metadata().find("kind");
  return kind != file.metadata().end() && kind->second == "bcos optimizer";
}

void print_summary(const File& file, bool verified) {
  std::uint64_t bytes = 0;
  for (const TensorInfo& tensor : file.tensors()) bytes += tensor.end - tensor.begin;
  cli::print("{}: {} tensors, {}\n", cli::visible(file.path()), file.tensors().size(),
             size_text(bytes));
  if (!file.has_checksums()) {
    cli::print("checksums: none in this file\n");
  } else {
    cli::print("checksums: {}\n", verified ? "present, all match" : "present, not verified");
  }
}

void print_metadata(const File& file) {
  if (file.metadata().empty()) return;
  cli::print("\nmetadata:\n");
  for (const auto& [key, value] : file.metadata()) {
    const bool cut = value.size() > kLongestValue;
    cli::print("  {} = {}{}\n", cli::visible(key), cli::visible(value.substr(0, kLongestValue)),
               cut ? fmt::format("... ({} bytes)", value.size()) : "");
  }
}

/// The groups and parameters that an optimizer file describes in its metadata.
void print_optimizer(const File& file, const StateFileHeader& header) {
  cli::print(
      "\noptimizer written by bcos {}, {} skipped steps\n",
      cli::visible(file.metadata().count("version") > 0 ? file.metadata().at("version") : "?"),
      header.skipped_steps);
  for (std::size_t i = 0; i < header.groups.size(); ++i) {
    cli::print("  group {}: {}\n", i, cli::visible(cli::summary_of(header.groups[i])));
  }
  cli::Table table({{"parameter"},
                    {"dtype"},
                    {"shape"},
                    {"group", cli::Align::right},
                    {"steps", cli::Align::right}});
  for (const auto& entry : header.parameters) {
    table.add({cli::visible(entry.name), std::string(file_dtype(entry.dtype)),
               shape_text(entry.shape), fmt::format("{}", entry.group),
               fmt::format("{}", entry.steps)});
  }
  cli::print("\n{}", table.text("  "));
}

void print_tensors(const File& file, bool stats) {
  std::vector<cli::Table::Column> columns = {
      {"tensor"}, {"dtype"}, {"shape"}, {"bytes", cli::Align::right}};
  if (stats) {
    for (const char* title : {"min", "max", "rms", "not finite"}) {
      columns.push_back({title, cli::Align::right});
    }
  }
  cli::Table table(columns);
  for (const TensorInfo& tensor : file.tensors()) {
    std::vector<std::string> row = {cli::visible(tensor.name), tensor.dtype,
                                    shape_text(tensor.shape),
                                    fmt::format("{}", tensor.end - tensor.begin)};
    const auto numbers = stats ? tensor_stats(file, tensor) : std::nullopt;
    if (numbers && numbers->finite > 0) {
      for (const double value : {numbers->least, numbers->most, numbers->rms}) {
        row.push_back(fmt::format("{:.4g}", value));
      }
    } else if (stats) {
      row.insert(row.end(), 3, "-");
    }
    if (numbers) row.push_back(fmt::format("{}", numbers->not_finite));
    table.add(std::move(row));
  }
  cli::print("\n{}", table.text("  "));
}

void run(const Options& options) {
  const File file = File::open(options.file);
  // First of all: of a damaged file nothing is shown.
  if (!options.no_verify) file.verify();
  std::optional<StateFileHeader> header;
  if (is_optimizer_file(file)) header = read_state_header(file);

  print_summary(file, !options.no_verify);
  if (header) {
    print_optimizer(file, *header);
  } else {
    print_metadata(file);
  }
  if (!file.tensors().empty()) print_tensors(file, options.stats);
}

}  // namespace

void add_inspect(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  CLI::App& app = program.add(
      "inspect", "Show and verify an optimizer file or any safetensors file",
      {"bcos inspect run/optimizer.safetensors", "bcos inspect --stats model.safetensors"},
      [options] { run(*options); });
  cli::add_text(app, "FILE", "", options->file, "a safetensors file")->required();
  app.add_flag("--no-verify", options->no_verify, "do not read the data to compare checksums");
  app.add_flag("--stats", options->stats, "least, largest and rms value of F32 and F64 tensors");
}

}  // namespace bcos::lab::commands
