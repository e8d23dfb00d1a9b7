#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Formulas as they are typed, "E|x_{t+1} - x_*|^2 <= alpha^2 B_*", made readable: Greek letters,
/// signs, and what stands lower or higher. Names with an underscore, such as cond_full, stay.
namespace bcos::lab::plot {

struct TextPiece {
  enum class Level { line, low, high };
  Level level = Level::line;
  std::string text;
};

std::vector<TextPiece> formula_pieces(std::string_view text);

/// For an element of a page, with <sub> and <sup>.
std::string formula_html(std::string_view text);

/// For a text element of an SVG, with <tspan>.
std::string formula_svg(std::string_view text);

/// About how many letters of the usual size it is wide.
double formula_width(std::string_view text);

}  // namespace bcos::lab::plot
