#include "lab/cli/files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "engine/error.hpp"
#include "engine/strict_json.hpp"
#include "lab/cli/output.hpp"

namespace bcos::lab::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Close {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};
using Stream = std::unique_ptr<std::FILE, Close>;

std::string reason() { return std::generic_category().message(errno); }

std::string described(const std::string& path) {
  return path == "-" ? "standard input" : fmt::format("'{}'", path);
}

Error unwritable(const std::string& path) {
  return fail(ErrorCode::io, "write", "expected a writable file but received '{}': {}", path,
              reason());
}

/// Larger files are a mistake, or have no end.
constexpr std::size_t kLargestText = std::size_t{1} << 30;

/// What an error quotes may be anything: a terminal gets ASCII.
std::string in_ascii(std::string_view text) {
  std::string shown;
  for (const char c : text) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown;
}

}  // namespace

std::string read_text(const std::string& path) {
  const Stream stream(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (!stream) {
    throw fail(ErrorCode::io, "read", "expected a readable file but received '{}': {}", path,
               reason());
  }
  std::string text;
  char chunk[1 << 16];
  std::size_t count = 0;
  do {
    count = std::fread(chunk, 1, sizeof(chunk), stream.get());
    text.append(chunk, count);
    if (text.size() > kLargestText) {
      throw fail(ErrorCode::io, "read", "expected at most {} bytes but received more from {}",
                 kLargestText, described(path));
    }
  } while (count == sizeof(chunk));
  if (std::ferror(stream.get()) != 0) {
    throw fail(ErrorCode::io, "read", "expected a readable file but received {}: {}",
               described(path), reason());
  }
  return text;
}

void check_writable(const std::string& path) {
  if (path == "-") return;
  if (const Stream stream(std::fopen(path.c_str(), "ab")); !stream) throw unwritable(path);
}

void write_text(const std::string& path, std::string_view text) {
  if (path == "-") return write_out(text);
  Stream stream(std::fopen(path.c_str(), "wb"));
  const bool written =
      stream && std::fwrite(text.data(), 1, text.size(), stream.get()) == text.size();
  if (!written || std::fclose(stream.release()) != 0) throw unwritable(path);
}

void make_folder(const std::string& path, std::string_view where) {
  namespace fs = std::filesystem;
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::io, where, "expected a folder to write to but received '{}': {}", path,
                why);
  };
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_directory(path, error)) throw refuse("it is a file");
  fs::create_directories(path, error);
  if (error) throw refuse(error.message());
  if (access(path.c_str(), W_OK | X_OK) != 0) throw refuse(reason());
}

Json parse_json(const std::string& text, const std::string& path) {
  try {
    return parse_strict<Json>(text, "read", " in " + described(path));
  } catch (const Json::exception& error) {
    throw fail(ErrorCode::corrupt, "read", "expected JSON in {} but received: {}", described(path),
               in_ascii(error.what()));
  }
}

}  // namespace bcos::lab::cli
