#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/safetensors/file_io.hpp"

namespace bcos::lab::run {

inline constexpr const char* kManifestName = "manifest.json";

/// What a checkpoint's manifest.json says. A directory with a manifest whose files have the right
/// sizes is complete: the manifest is written last.
struct Manifest {
  struct File {
    std::string name;
    std::uint64_t bytes = 0;
    std::uint32_t crc32c = 0;
  };
  std::uint64_t step = 0;
  bool best = false;
  std::vector<File> files;
  nlohmann::ordered_json facts;
};

/// JSON, and in its last line the CRC32C of all of it with that number as eight zeros.
std::string manifest_text(const Manifest& manifest);

/// Throws Error(corrupt) for a text that manifest_text has not made, Error(mismatch) for one of a
/// newer format; both name `path`.
Manifest parse_manifest(const std::string& text, const std::string& path);

/// The manifest of a checkpoint's directory, after a look at the sizes of the files it names.
/// Throws as parse_manifest does, and Error(io).
Manifest read_complete(const std::string& directory);

/// Reads all files and compares their checksums. Throws Error(corrupt) that names the file.
void verify_files(const Manifest& manifest, const std::string& directory);

/// Refuses a name that is not that of a file in the directory itself.
void check_file_name(const std::string& name);

/// CRC32C of the first `size` bytes of a file. Throws Error(corrupt) if there are fewer.
std::uint32_t checksum_of(const safetensors::Descriptor& file, std::uint64_t size,
                          const std::string& path);

}  // namespace bcos::lab::run
