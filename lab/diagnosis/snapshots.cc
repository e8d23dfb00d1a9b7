#include "lab/diagnosis/snapshots.hpp"

#include <algorithm>
#include <optional>

#include "bcos/safetensors.hpp"
#include "engine/error.hpp"
#include "lab/cli/options.hpp"
#include "lab/run/file_system.hpp"

namespace bcos::lab::diagnosis {
namespace {

constexpr std::string_view kWhere = "train";
constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kSuffix = ".safetensors";

std::optional<std::uint64_t> step_of(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(std::min(name.size(), kSuffix.size()));
  return cli::whole_of(name);
}

}  // namespace

std::string Snapshots::path_of(std::uint64_t step) const {
  return fmt::format("{}/{}{:08}{}", directory_, kPrefix, step, kSuffix);
}

void Snapshots::keep(std::uint64_t step, std::span<const Part> parts) const {
  std::vector<safetensors::TensorData> tensors;
  for (const Part& part : parts) {
    tensors.push_back({part.name, "F32", {part.values.size()}, std::as_bytes(part.values)});
  }
  run::make_directory(kWhere, directory_);
  safetensors::write(path_of(step), tensors, {});
}

std::vector<std::uint64_t> Snapshots::steps() const {
  std::vector<std::uint64_t> list;
  if (!run::exists(directory_)) return list;
  for (const std::string& name : run::names_in(kWhere, directory_)) {
    if (const auto step = step_of(name)) list.push_back(*step);
  }
  std::ranges::sort(list);
  return list;
}

void Snapshots::read(std::uint64_t step, std::span<const Place> places) const {
  const auto file = safetensors::File::open(path_of(step));
  for (const Place& place : places) {
    const safetensors::TensorInfo* info = file.find(place.name);
    if (info == nullptr || info->end - info->begin != place.values.size_bytes()) {
      throw fail(ErrorCode::corrupt, kWhere, "expected '{}' of {} numbers in '{}'", place.name,
                 place.values.size(), file.path());
    }
    file.read(*info, std::as_writable_bytes(place.values));
  }
}

void Snapshots::remove_from(std::uint64_t step) const {
  for (const std::uint64_t kept : steps()) {
    if (kept >= step) run::remove_tree(kWhere, path_of(kept));
  }
}

void Snapshots::remove_all() const {
  if (run::exists(directory_)) run::remove_tree(kWhere, directory_);
}

}  // namespace bcos::lab::diagnosis
