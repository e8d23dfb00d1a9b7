#include "lab/cli/table.hpp"

#include <algorithm>

namespace bcos::lab::cli {
namespace {

void append_line(std::string& out, const std::vector<std::string>& cells,
                 const std::vector<Table::Column>& columns,
                 const std::vector<std::size_t>& widths) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t gap = widths[i] - shown_width(cells[i]);
    if (i > 0) out += "  ";
    if (columns[i].align == Align::right) out.append(gap, ' ');
    out += cells[i];
    if (columns[i].align == Align::left) out.append(gap, ' ');
  }
  while (out.ends_with(' ')) out.pop_back();
  out += '\n';
}

}  // namespace

std::size_t shown_width(std::string_view text) {
  std::size_t width = 0;
  bool in_escape = false;
  for (const char c : text) {
    if (c == '\x1b') in_escape = true;
    const bool continuation = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (!in_escape && !continuation) ++width;
    if (in_escape && c == 'm') in_escape = false;
  }
  return width;
}

void Table::add(std::vector<std::string> row) {
  row.resize(columns_.size());
  rows_.push_back(std::move(row));
}

std::string Table::text(std::string_view indent) const {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(shown_width(column.title));
  }
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], shown_width(row[i]));
    }
  }
  std::string out(indent);
  append_line(out, titles, columns_, widths);
  for (const auto& row : rows_) {
    out += indent;
    append_line(out, row, columns_, widths);
  }
  return out;
}

}  // namespace bcos::lab::cli
