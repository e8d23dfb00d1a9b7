#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bcos::lab::cli {

/// Text for an element or a quoted attribute.
std::string html_text(std::string_view text);

/// JSON for a script element: nothing in it can end the element or begin a comment. What is not
/// UTF-8 is replaced, numbers that are not finite become null.
std::string script_json(const nlohmann::ordered_json& data);

/// Puts values in the place of "{{name}}", in one pass: what is put in is not looked at again.
/// Throws Error(invalid_argument) for a name without a value.
std::string fill_template(std::string_view text,
                          const std::vector<std::pair<std::string_view, std::string>>& values);

/// Replaces a file wholly or not at all. Throws Error(io).
void write_page(const std::string& path, const std::string& text);

}  // namespace bcos::lab::cli
