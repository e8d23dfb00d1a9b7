#include "lab/cli/output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "engine/error.hpp"

namespace bcos::lab::cli {
namespace {

[[noreturn]] void throw_write_error(int error) {
  if (error == EPIPE) throw OutputClosed{};
  throw fail(ErrorCode::io, "write", "expected to write standard output but received: {}",
             std::generic_category().message(error));
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The first of these variables that is set decides the character set.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = environment(name);
    if (value.empty()) continue;
    for (const std::string_view form : {"UTF-8", "utf-8", "UTF8", "utf8"}) {
      if (value.find(form) != std::string_view::npos) return true;
    }
    return false;
  }
  return false;
}

Terminal terminal_at(int descriptor) {
  Terminal result;
  result.present = isatty(descriptor) == 1;
  result.colour =
      result.present && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  result.unicode = locale_is_utf8();
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) result.columns = size.ws_col;
  return result;
}

}  // namespace

void write_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw_write_error(errno);
}

void flush_out() {
  if (std::fflush(stdout) != 0) throw_write_error(errno);
}

void warn(std::string_view text) {
  std::fflush(stdout);
  const std::string line = fmt::format("bcos: {}\n", visible(text));
  std::fwrite(line.data(), 1, line.size(), stderr);
}

Terminal terminal() { return terminal_at(STDOUT_FILENO); }
Terminal error_terminal() { return terminal_at(STDERR_FILENO); }

std::string coloured(std::string_view text, Colour colour, const Terminal& where) {
  if (!where.colour) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", static_cast<int>(colour), text);
}

std::string visible(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // C1 controls are two bytes in UTF-8, and terminals obey them too.
    const bool c1 = byte == 0xC2 && i + 1 < text.size() &&
                    static_cast<unsigned char>(text[i + 1]) >= 0x80 &&
                    static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c1) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else if (byte < 0x20 || byte == 0x7F) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace bcos::lab::cli
