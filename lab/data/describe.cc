#include "lab/data/describe.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "engine/error.hpp"
#include "lab/data/decode_image.hpp"
#include "lab/data/gzip.hpp"
#include "lab/data/image_formats.hpp"
#include "lab/data/token_files.hpp"
#include "lab/data/unicode.hpp"

namespace bcos::lab::data {
namespace {

constexpr std::uint64_t kShownTokens = 16;
constexpr std::uint64_t kShownCharacters = 60;
constexpr std::uint64_t kLargestImage = std::uint64_t{1} << 28;
constexpr std::uint64_t kPeek = 1 << 16;
constexpr std::uint64_t kCifarRecord = 3073;

template <class Value>
void add(FileDescription& to, std::string name, const Value& value) {
  to.facts.emplace_back(std::move(name), fmt::format("{}", value));
}

FileDescription describe_tokens(const DataFile& file) {
  const TokenLayout layout = token_layout(file);
  FileDescription described{std::string(name_of(layout.format)), {}};
  // Any id is good enough to be shown.
  const OpenedTokens opened = open_tokens({file.path()}, std::uint64_t{1} << 32);
  add(described, "tokens", layout.count);
  add(described, "bytes a token", layout.id_bytes);
  add(described, "largest id", opened.tokens->largest());
  std::vector<std::int64_t> first(std::min(kShownTokens, layout.count));
  opened.tokens->read(0, first);
  add(described, "first tokens", fmt::format("{}", fmt::join(first, " ")));
  add(described, "crc32c", fmt::format("{:08x}", opened.files.front().crc32c));
  return described;
}

std::string histogram(const std::map<int, std::uint64_t>& counts) {
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [label, count] : counts) parts.push_back(fmt::format("{}: {}", label, count));
  return fmt::format("{}", fmt::join(parts, ", "));
}

FileDescription describe_idx(const DataFile& file) {
  const IdxArray array = read_idx(file.path());
  FileDescription described{"IDX, unsigned bytes", {}};
  add(described, "shape", fmt::format("{}", fmt::join(array.sizes, " x ")));
  std::map<int, std::uint64_t> counts;
  for (const char value : array.values) ++counts[static_cast<unsigned char>(value)];
  if (!counts.empty())
    add(described, "values",
        fmt::format("{} to {}", counts.begin()->first, counts.rbegin()->first));
  if (array.sizes.size() == 1) add(described, "labels", histogram(counts));
  return described;
}

FileDescription describe_cifar(const DataFile& file) {
  FileDescription described{"CIFAR-10 batch", {}};
  if (file.size() % kCifarRecord != 0) {
    throw fail(ErrorCode::corrupt, "data", "expected records of {} bytes in '{}' but received {}",
               kCifarRecord, file.path(), file.size());
  }
  const std::string bytes = file.text(kLargestWhole);
  std::map<int, std::uint64_t> counts;
  for (std::uint64_t at = 0; at < bytes.size(); at += kCifarRecord) {
    ++counts[static_cast<unsigned char>(bytes[at])];
  }
  add(described, "images", file.size() / kCifarRecord);
  add(described, "shape", "3 x 32 x 32");
  add(described, "labels", histogram(counts));
  return described;
}

FileDescription describe_image(const DataFile& file) {
  const std::string bytes = file.text(kLargestImage);
  const RgbImage image = decode_image(bytes, file.path());
  FileDescription described{bytes.starts_with('\xff') ? "JPEG image" : "PNG image", {}};
  add(described, "size", fmt::format("{} x {}", image.width, image.height));
  return described;
}

FileDescription describe_text(const DataFile& file) {
  const std::string text = file.text(kLargestWhole);
  std::array<std::uint64_t, 256> counts{};
  for (const char byte : text) ++counts[static_cast<unsigned char>(byte)];
  const std::size_t valid = valid_utf8_prefix(text);
  const bool utf8 = valid == text.size() && counts[0] == 0;
  FileDescription described{utf8 ? "text (UTF-8)" : "bytes (not UTF-8 text)", {}};
  add(described, "bytes", file.size());
  add(described, "distinct bytes",
      counts.size() - static_cast<std::size_t>(std::count(counts.begin(), counts.end(), 0)));
  if (utf8) {
    std::vector<bool> seen(0x110000);
    std::uint64_t characters = 0;
    for (std::size_t at = 0; at < text.size(); ++characters) {
      const CodePoint point = code_point_at(text, at);
      seen[point.value] = true;
      at += point.bytes;
    }
    add(described, "characters", characters);
    add(described, "distinct characters", std::count(seen.begin(), seen.end(), true));
    std::size_t shown = 0;
    for (std::uint64_t i = 0; i < kShownCharacters && shown < text.size(); ++i) {
      shown += code_point_at(text, shown).bytes;
    }
    add(described, "begins", text.substr(0, shown));
  } else if (valid < text.size()) {
    add(described, "not UTF-8 at", valid);
  }
  add(described, "crc32c", fmt::format("{:08x}", fact_of(file.path(), text).crc32c));
  return described;
}

FileDescription describe_folder(const std::string& path) {
  const ImageData data = open_images({.data = path});
  FileDescription described{"images", {}};
  add(described, "holds", data.described);
  add(described, "classes", fmt::format("{}", fmt::join(data.train->class_names(), ", ")));
  for (const Images* part : {data.train.get(), data.val.get()}) {
    std::map<int, std::uint64_t> counts;
    for (std::uint64_t i = 0; i < part->size(); ++i) ++counts[part->label(i)];
    add(described, part == data.train.get() ? "training labels" : "validation labels",
        histogram(counts));
  }
  add(described, "mean", fmt::format("{:.4f}", fmt::join(data.mean, " ")));
  add(described, "std", fmt::format("{:.4f}", fmt::join(data.std, " ")));
  return described;
}

bool is_idx(std::string_view beginning) {
  return beginning.size() == 4 && beginning[0] == 0 && beginning[1] == 0 && beginning[2] == 8 &&
         beginning[3] >= 1 && beginning[3] <= 4;
}

}  // namespace

FileDescription describe_file(const std::string& path) {
  if (is_folder(path)) return describe_folder(path);
  const DataFile file(path);
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string beginning = file.beginning(8);
  if (has_token_mark(beginning)) return describe_tokens(file);
  if (is_gzip(beginning) && is_idx(unpacked(file.beginning(kPeek), 4, path))) {
    return describe_idx(file);
  }
  if (is_idx(beginning.substr(0, 4))) return describe_idx(file);
  if (beginning.starts_with("\xff\xd8\xff") || beginning.starts_with("\x89PNG")) {
    return describe_image(file);
  }
  if (const std::string_view packing = packing_of(beginning); !packing.empty()) {
    FileDescription described{fmt::format("packed by {}: unpack it first", packing), {}};
    add(described, "bytes", file.size());
    return described;
  }
  if (name.starts_with("data_batch_") || name.starts_with("test_batch"))
    return describe_cifar(file);
  return name.ends_with(".bin") ? describe_tokens(file) : describe_text(file);
}

}  // namespace bcos::lab::data
