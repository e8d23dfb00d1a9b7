#include "lab/cli/html.hpp"

#include <algorithm>

#include "engine/error.hpp"
#include "engine/safetensors/atomic_file.hpp"

namespace bcos::lab::cli {

std::string html_text(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string script_json(const nlohmann::ordered_json& data) {
  const std::string plain =
      data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string result;
  result.reserve(plain.size());
  for (const char c : plain) {
    // Only strings can hold this character, and in a string the escape means the same.
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

std::string fill_template(std::string_view text,
                          const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string result;
  while (true) {
    const std::size_t open = text.find("{{");
    const std::size_t close = text.find("}}", open);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    const std::string_view name = text.substr(open + 2, close - open - 2);
    const auto value = std::ranges::find_if(
        values, [&](const auto& candidate) { return candidate.first == name; });
    if (value == values.end()) {
      throw fail("fill_template", "expected a value for '{}' but received none", name);
    }
    result += text.substr(0, open);
    result += value->second;
    text.remove_prefix(close + 2);
  }
  result += text;
  return result;
}

void write_page(const std::string& path, const std::string& text) {
  safetensors::AtomicFile file("write_page", path, text.size());
  file.append(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace bcos::lab::cli
