#include "lab/theory/html_table.hpp"

#include <fmt/format.h>

#include "lab/plot/formula_text.hpp"

namespace bcos::lab::theory {

HtmlTable::Cell HtmlTable::number(std::string text, double value) {
  return {std::move(text), true, fmt::format("{}", value)};
}

void HtmlTable::add(const std::vector<Cell>& cells, bool good) {
  body_ += row("td", cells, good ? "" : " class=\"bad\"");
}

std::string HtmlTable::text() const {
  return fmt::format("<table>\n<thead>{}</thead>\n<tbody>\n{}</tbody>\n</table>\n", head_, body_);
}

std::string HtmlTable::row(const char* tag, const std::vector<Cell>& cells, const char* kind) {
  std::string out = fmt::format("<tr{}>", kind);
  for (const Cell& cell : cells) {
    out += fmt::format("<{}{}{}>{}</{}>", tag, cell.number ? " class=\"number\"" : "",
                       cell.value.empty() ? "" : fmt::format(" data-value=\"{}\"", cell.value),
                       cell.markup ? cell.text : lab::plot::formula_html(cell.text), tag);
  }
  return out + "</tr>\n";
}

}  // namespace bcos::lab::theory
