#pragma once

#include <string>
#include <vector>

namespace bcos::lab::theory {

/// A table of a page, row by row.
class HtmlTable {
 public:
  struct Cell {
    std::string text;  ///< a formula as it is typed, unless it is markup
    bool number = false;
    std::string value = {};  ///< all digits of a number
    bool markup = false;
  };
  static Cell words(std::string text) { return {std::move(text)}; }
  static Cell markup(std::string text) { return {std::move(text), false, "", true}; }
  /// A number as `text` shows it.
  static Cell number(std::string text, double value);

  explicit HtmlTable(const std::vector<Cell>& titles) : head_(row("th", titles, "")) {}

  void add(const std::vector<Cell>& cells, bool good = true);
  std::string text() const;

 private:
  static std::string row(const char* tag, const std::vector<Cell>& cells, const char* kind);

  std::string head_;
  std::string body_;
};

}  // namespace bcos::lab::theory
