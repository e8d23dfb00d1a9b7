#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bcos::lab::diagnosis {

/// Numbers that a diagnosis keeps of chosen steps: a folder with one file a step, each there wholly
/// or not at all.
class Snapshots {
 public:
  struct Part {
    std::string name;
    std::span<const float> values;
  };

  /// The folder is made when something is kept; the one that it is in must exist.
  explicit Snapshots(std::string directory) : directory_(std::move(directory)) {}

  const std::string& directory() const { return directory_; }

  void keep(std::uint64_t step, std::span<const Part> parts) const;

  /// Steps that were kept, rising.
  std::vector<std::uint64_t> steps() const;

  /// Fills each of the parts, whose sizes are known. Throws Error(io) or Error(corrupt).
  struct Place {
    std::string name;
    std::span<float> values;
  };
  void read(std::uint64_t step, std::span<const Place> places) const;

  /// Those of this step and later ones; all: the folder goes too.
  void remove_from(std::uint64_t step) const;
  void remove_all() const;

 private:
  std::string path_of(std::uint64_t step) const;

  std::string directory_;
};

}  // namespace bcos::lab::diagnosis
