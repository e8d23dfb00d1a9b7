#include "lab/run/checkpoint_manifest.hpp"

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>

#include "bcos/safetensors.hpp"
#include "engine/error.hpp"
#include "engine/strict_json.hpp"

namespace bcos::lab::run {
namespace {

using Json = nlohmann::ordered_json;
using safetensors::Descriptor;

constexpr std::string_view kFunction = "checkpoint";
constexpr std::string_view kFormat = "bcos checkpoint";
constexpr std::uint64_t kVersion = 1;
constexpr std::uint64_t kLargestManifest = std::uint64_t{64} << 20;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

// Every version of the format ends like this, so that damage can be told from a newer version.
constexpr std::string_view kBeforeChecksum = "\"crc32c\": \"";
constexpr std::string_view kBlank = "00000000";
constexpr std::string_view kAfterChecksum = "\"\n}\n";

std::string hex(std::uint32_t value) { return fmt::format("{:08x}", value); }

Error damaged(const std::string& path, std::string_view received) {
  return fail(ErrorCode::corrupt, kFunction,
              "expected an intact checkpoint but received {} in '{}'", received, path);
}

/// `text` with its checksum in the place of the zeros.
std::string sealed(std::string text) {
  const std::size_t place = text.size() - kAfterChecksum.size() - kBlank.size();
  const std::uint32_t crc = safetensors::crc32c(std::as_bytes(std::span(text)));
  return text.replace(place, kBlank.size(), hex(crc));
}

void check_seal(const std::string& text, const std::string& path) {
  const std::size_t tail = kBeforeChecksum.size() + kBlank.size() + kAfterChecksum.size();
  const std::string_view end =
      std::string_view(text).substr(text.size() - std::min(text.size(), tail));
  if (!end.starts_with(kBeforeChecksum) || !end.ends_with(kAfterChecksum)) {
    throw damaged(path, "a manifest without its end");
  }
  std::string blank = text;
  blank.replace(text.size() - kAfterChecksum.size() - kBlank.size(), kBlank.size(), kBlank);
  if (sealed(std::move(blank)) != text) throw damaged(path, "a manifest of another checksum");
}

std::uint64_t whole_number(const Json& value) {
  if (!value.is_number_unsigned()) throw fail(kFunction, "expected a whole number");
  return value.get<std::uint64_t>();
}

std::uint32_t checksum_from(const std::string& text) {
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (hex(value) != text) throw fail(kFunction, "expected eight hexadecimal digits");
  return value;
}

Manifest from_json(const Json& json) {
  Manifest manifest;
  manifest.step = whole_number(json.at("step"));
  manifest.best = json.at("best").get<bool>();
  for (const Json& file : json.at("files")) {
    manifest.files.push_back({file.at("name").get<std::string>(), whole_number(file.at("bytes")),
                              checksum_from(file.at("crc32c").get<std::string>())});
    check_file_name(manifest.files.back().name);
  }
  manifest.facts = json.at("facts");
  return manifest;
}

std::string read_manifest_text(const std::string& path) {
  std::uint64_t size = 0;
  const Descriptor file = safetensors::open_regular(kFunction, path, size);
  if (size > kLargestManifest) {
    throw damaged(path, fmt::format("a manifest of {} bytes", size));
  }
  std::string text(size, '\0');
  const std::size_t count =
      safetensors::read_at(kFunction, file, 0, std::as_writable_bytes(std::span(text)), path);
  text.resize(count);
  return text;
}

}  // namespace

std::string manifest_text(const Manifest& manifest) {
  Json files = Json::array();
  for (const Manifest::File& file : manifest.files) {
    files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"crc32c", hex(file.crc32c)}});
  }
  const Json json = {{"format", kFormat},     {"version", kVersion}, {"step", manifest.step},
                     {"best", manifest.best}, {"files", files},      {"facts", manifest.facts},
                     {"crc32c", kBlank}};
  try {
    return sealed(json.dump(2) + "\n");
  } catch (const Json::exception& error) {
    throw fail(kFunction, "expected names and facts in UTF-8 but received: {}", error.what());
  }
}

Manifest parse_manifest(const std::string& text, const std::string& path) {
  check_seal(text, path);
  try {
    const Json json = parse_strict<Json>(text, kFunction, fmt::format(" in '{}'", path));
    if (json.at("format") != kFormat) throw damaged(path, "the manifest of something else");
    const std::uint64_t version = whole_number(json.at("version"));
    if (version > kVersion) {
      throw fail(ErrorCode::mismatch, kFunction,
                 "expected a checkpoint of format version {} but received version {} in '{}': a "
                 "newer bcos wrote it and can read it",
                 kVersion, version, path);
    }
    return from_json(json);
  } catch (const Json::exception& error) {
    throw damaged(path, error.what());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    throw damaged(path, error.what());
  }
}

Manifest read_complete(const std::string& directory) {
  const std::string path = fmt::format("{}/{}", directory, kManifestName);
  Manifest manifest = parse_manifest(read_manifest_text(path), path);
  for (const Manifest::File& file : manifest.files) {
    const std::string file_path = directory + "/" + file.name;
    std::uint64_t size = 0;
    const Descriptor opened = safetensors::open_regular(kFunction, file_path, size);
    if (size != file.bytes) {
      throw damaged(file_path, fmt::format("{} bytes instead of {}", size, file.bytes));
    }
  }
  return manifest;
}

void verify_files(const Manifest& manifest, const std::string& directory) {
  for (const Manifest::File& file : manifest.files) {
    const std::string path = directory + "/" + file.name;
    std::uint64_t size = 0;
    const Descriptor opened = safetensors::open_regular(kFunction, path, size);
    const std::uint32_t crc = checksum_of(opened, file.bytes, path);
    if (crc != file.crc32c) {
      throw damaged(path, fmt::format("checksum {} instead of {}", hex(crc), hex(file.crc32c)));
    }
  }
}

void check_file_name(const std::string& name) {
  const bool plain = !name.empty() && name.front() != '.' &&
                     name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
  if (!plain || name == kManifestName) {
    throw fail(kFunction, "expected the name of a checkpoint's file but received '{}'", name);
  }
}

std::uint32_t checksum_of(const Descriptor& file, std::uint64_t size, const std::string& path) {
  std::vector<std::byte> chunk(std::min<std::uint64_t>(size, kChunkBytes));
  std::uint32_t crc = 0;
  for (std::uint64_t offset = 0; offset < size;) {
    const auto wanted =
        std::span(chunk).first(std::min<std::uint64_t>(size - offset, chunk.size()));
    const std::size_t count = safetensors::read_at(kFunction, file, offset, wanted, path);
    if (count < wanted.size()) {
      throw damaged(path, fmt::format("{} bytes instead of {}", offset + count, size));
    }
    crc = safetensors::crc32c(wanted, crc);
    offset += count;
  }
  return crc;
}

}  // namespace bcos::lab::run
