#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace bcos::lab::cli {

/// Nobody reads standard output any more (`bcos methods | head -1`): the program ends quietly.
struct OutputClosed {};

/// Writes to standard output. Throws OutputClosed, or Error(io) if it is full.
void write_out(std::string_view text);
void flush_out();

/// A line on standard error, after what was written to standard output.
void warn(std::string_view text);

template <class... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  write_out(fmt::format(format, std::forward<Args>(args)...));
}

/// What a stream can show.
struct Terminal {
  bool present = false;  ///< it is a terminal
  bool colour = false;   ///< a terminal, and neither NO_COLOR nor TERM=dumb says no
  bool unicode = false;  ///< the locale is UTF-8
  int columns = 80;
};
Terminal terminal();        ///< of standard output
Terminal error_terminal();  ///< of standard error

enum class Colour { red = 31, green = 32, cyan = 36 };

/// The text in a colour where the terminal has colours, else the text.
std::string coloured(std::string_view text, Colour colour, const Terminal& where);

/// Text from files and users, safe to show: control characters become \xNN.
std::string visible(std::string_view text);

}  // namespace bcos::lab::cli
