#include "lab/cli/human.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

namespace bcos::lab::cli {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr std::array<Range, 7> kNoColumn = {{{0x0300, 0x036F},
                                             {0x1AB0, 0x1AFF},
                                             {0x1DC0, 0x1DFF},
                                             {0x200B, 0x200F},
                                             {0x20D0, 0x20FF},
                                             {0xFE00, 0xFE0F},
                                             {0xFE20, 0xFE2F}}};
constexpr std::array<Range, 12> kTwoColumns = {{{0x1100, 0x115F},
                                                {0x2E80, 0x303E},
                                                {0x3041, 0xA4CF},
                                                {0xA960, 0xA97F},
                                                {0xAC00, 0xD7A3},
                                                {0xF900, 0xFAFF},
                                                {0xFE30, 0xFE6F},
                                                {0xFF00, 0xFF60},
                                                {0xFFE0, 0xFFE6},
                                                {0x1F300, 0x1F64F},
                                                {0x1F680, 0x1FAFF},
                                                {0x20000, 0x3FFFD}}};

bool is_in(char32_t letter, std::span<const Range> ranges) {
  return std::ranges::any_of(
      ranges, [&](const Range& range) { return range.first <= letter && letter <= range.last; });
}

struct Letter {
  std::size_t bytes;
  int columns;
};

/// The first letter of a text; a byte that is not UTF-8 is a letter by itself.
Letter first_letter(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {1, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  if (bytes == 1 || bytes > text.size()) return {1, 1};
  char32_t letter = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80) return {1, 1};
    letter = (letter << 6) | (next & 0x3FU);
  }
  if (is_in(letter, kNoColumn)) return {bytes, 0};
  return {bytes, is_in(letter, kTwoColumns) ? 2 : 1};
}

/// A number below 1000 with three digits, without a point where it is whole by nature.
std::string three_digits(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

template <std::size_t Count>
std::string scaled(double value, const std::array<std::string_view, Count>& units,
                   std::string_view gap) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (value < 0) return "-" + scaled(-value, units, gap);
  std::size_t unit = 0;
  while (unit + 1 < Count && value >= 999.5) {
    value /= 1000;
    ++unit;
  }
  const bool whole = unit == 0 && value == std::floor(value);
  return fmt::format("{}{}{}", whole ? fmt::format("{:.0f}", value) : three_digits(value), gap,
                     units[unit]);
}

}  // namespace

int display_columns(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    const Letter letter = first_letter(text);
    columns += letter.columns;
    text.remove_prefix(letter.bytes);
  }
  return columns;
}

std::string fitted(std::string_view text, int columns, bool unicode) {
  if (display_columns(text) <= columns) return std::string(text);
  const std::string_view ellipsis = unicode ? "…" : "...";
  const int room = columns - display_columns(ellipsis);
  if (room < 0) return {};
  std::size_t end = 0;
  int used = 0;
  while (end < text.size()) {
    const Letter letter = first_letter(text.substr(end));
    if (used + letter.columns > room) break;
    used += letter.columns;
    end += letter.bytes;
  }
  return fmt::format("{}{}", text.substr(0, end), ellipsis);
}

std::vector<std::string> wrapped(std::string_view text, int columns) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    const int needed = display_columns(word);
    if (lines.empty() || display_columns(lines.back()) + 1 + needed > columns) {
      if (needed > 0) lines.emplace_back(word);
    } else if (needed > 0) {
      lines.back() += fmt::format(" {}", word);
    }
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return lines;
}

std::string human_count(double count) {
  static constexpr std::array<std::string_view, 5> kUnits = {"", "k", "M", "G", "T"};
  return scaled(count, kUnits, "");
}

std::string human_bytes(double bytes) {
  static constexpr std::array<std::string_view, 6> kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
  return scaled(bytes, kUnits, " ");
}

std::string human_time(double seconds) {
  constexpr double kLongest = 1e15;
  if (!(seconds >= 0 && seconds < kLongest)) return "?";
  if (seconds < 9.95) return fmt::format("{:.1f}s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{}s", whole);
  const std::uint64_t minutes = whole / 60;
  if (minutes < 60) return fmt::format("{}m {:02}s", minutes, whole % 60);
  const std::uint64_t hours = minutes / 60;
  if (hours < 24) return fmt::format("{}h {:02}m", hours, minutes % 60);
  return fmt::format("{}d {:02}h", hours / 24, hours % 24);
}

}  // namespace bcos::lab::cli
