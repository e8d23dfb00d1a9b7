#include "engine/suggestion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace bcos {
namespace {

/// Letters that change, come or go, and neighbours that swap places, to make b of a.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    next[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = row[j] + (a[i] == b[j] ? 0 : 1);
      next[j + 1] = std::min({substituted, row[j + 1] + 1, next[j] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) {
        next[j + 1] = std::min(next[j + 1], before[j - 1] + 1);
      }
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row.back();
}

}  // namespace

std::string spelling(std::string_view word) {
  std::string letters;
  for (const char c : word) {
    const bool upper = c >= 'A' && c <= 'Z';
    letters += c == '-' || c == ' ' ? '_' : upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return letters;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known,
                         std::size_t letters_per_edit) {
  const std::string wanted = spelling(word);
  std::string_view best;
  std::size_t fewest = std::string_view::npos;
  bool several = false;
  for (const std::string_view candidate : known) {
    const std::string offered = spelling(candidate);
    const std::size_t edits = edit_distance(wanted, offered);
    if (edits * letters_per_edit > std::max(wanted.size(), offered.size())) continue;
    if (edits == fewest) several = true;
    if (edits >= fewest) continue;
    fewest = edits;
    best = candidate;
    several = false;
  }
  return several ? std::string_view() : best;
}

std::string did_you_mean(std::string_view word) {
  return word.empty() ? std::string() : fmt::format("; did you mean '{}'?", word);
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
  return did_you_mean(nearest(word, known, 3));
}

}  // namespace bcos
