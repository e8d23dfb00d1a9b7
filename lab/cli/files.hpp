#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace bcos::lab::cli {

/// All of a file, or of standard input if the path is "-". Throws Error(io).
std::string read_text(const std::string& path);

/// Replaces a file; "-" is standard output. Throws Error(io).
void write_text(const std::string& path, std::string_view text);

/// Throws Error(io) if write_text could not write there. What the file holds stays.
void check_writable(const std::string& path);

/// Makes a folder to write to, and those above it; `where` names the caller. Throws Error(io).
void make_folder(const std::string& path, std::string_view where);

/// JSON that came from `path`. Throws Error(corrupt), also for nesting that no file of ours has.
nlohmann::ordered_json parse_json(const std::string& text, const std::string& path);

}  // namespace bcos::lab::cli
