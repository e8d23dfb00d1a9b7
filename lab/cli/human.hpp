#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Numbers and texts as they are read on a screen.
namespace bcos::lab::cli {

/// A text cut to so many columns of a terminal, with an ellipsis where something is missing. East
/// Asian letters and emoji take two columns, combining marks none.
std::string fitted(std::string_view text, int columns, bool unicode);

/// Columns that a text takes.
int display_columns(std::string_view text);

/// A text in lines of at most so many columns, broken at spaces; a longer word has its own line.
/// No lines for an empty text.
std::vector<std::string> wrapped(std::string_view text, int columns);

/// Three digits: 61834 is "61.8k"; k, M, G, T.
std::string human_count(double count);
/// Three digits in SI units: 444416 is "444 kB".
std::string human_bytes(double bytes);
/// The two largest units: 83 is "1m 23s"; "4.2s" below ten seconds.
std::string human_time(double seconds);

}  // namespace bcos::lab::cli
