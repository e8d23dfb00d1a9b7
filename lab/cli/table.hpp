#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bcos::lab::cli {

enum class Align { left, right };

/// Columns as wide as their widest cell, two spaces apart.
class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell a column.
  void add(std::vector<std::string> row);

  /// Titles and rows, each line after `indent`.
  std::string text(std::string_view indent = "") const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Characters of a UTF-8 text, colours not counted.
std::size_t shown_width(std::string_view text);

}  // namespace bcos::lab::cli
