#include "engine/safetensors/layout.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "bcos/safetensors.hpp"

namespace bcos::safetensors {
namespace {

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 16> kDtypes{{
    {"BOOL", 1},
    {"U8", 1},
    {"I8", 1},
    {"F8_E4M3", 1},
    {"F8_E5M2", 1},
    {"I16", 2},
    {"U16", 2},
    {"F16", 2},
    {"BF16", 2},
    {"I32", 4},
    {"U32", 4},
    {"F32", 4},
    {"I64", 8},
    {"U64", 8},
    {"F64", 8},
    {"C64", 8},
}};

bool has_control_character(std::string_view name) {
  unsigned char before = 0;
  for (const char character : name) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte == 0x7f) return true;
    if (before == 0xc2 && byte < 0xa0) return true;  // U+0080 to U+009F
    before = byte;
  }
  return false;
}

bool has_parent_component(std::string_view name) {
  while (true) {
    const std::size_t end = name.find_first_of("/\\");
    if (name.substr(0, end) == "..") return true;
    if (end == std::string_view::npos) return false;
    name.remove_prefix(end + 1);
  }
}

}  // namespace

std::uint64_t dtype_size(std::string_view dtype) {
  for (const auto& [name, size] : kDtypes) {
    if (name == dtype) return size;
  }
  return 0;
}

std::optional<std::uint64_t> shape_bytes(std::span<const std::uint64_t> shape,
                                         std::uint64_t element_bytes) {
  std::uint64_t bytes = element_bytes;
  bool empty = false;
  for (const std::uint64_t size : shape) {
    if (size == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(bytes, size, &bytes)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : bytes;
}

std::string_view name_problem(std::string_view name) {
  if (name.empty()) return "an empty name";
  if (name.size() > kMaxNameBytes) return "a name of more than 4096 bytes";
  if (name == kMetadata) return "the reserved name __metadata__";
  if (has_control_character(name)) return "a name with a control character";
  if (name.front() == '/' || name.front() == '\\') return "a name that is an absolute path";
  if (has_parent_component(name)) return "a name with a '..' path component";
  return {};
}

bool is_utf8(std::string_view text) {
  try {
    const std::string written = nlohmann::json(text).dump();
    return !written.empty();
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 60;
  using nlohmann::json;
  std::string shown =
      json(text.substr(0, kShown)).dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kShown) shown += "...";
  return shown;
}

}  // namespace bcos::safetensors
