#include "lab/plot/line_plot.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>

#include "lab/cli/table.hpp"
#include "lab/plot/axes.hpp"

namespace bcos::lab::plot {
namespace {

LinePlot slope() {
  LinePlot plot{"a < b & c", "step", "alpha", {}};
  for (int i = 0; i < 50; ++i) plot.points.push_back({1.0 * i, 0.001 * i});
  return plot;
}

/// Whether every element is closed in its turn; enough for documents without comments or CDATA.
bool well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  return open.empty();
}

TEST(Svg, IsWellFormedAndStandsAlone) {
  const std::string svg = svg_of(figure_of(slope()));
  EXPECT_TRUE(well_formed(svg)) << svg;
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_EQ(svg.find("href"), std::string::npos);
  EXPECT_NE(svg.find("<title>a &lt; b &amp; c</title>"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Svg, DrawsTheCurveFromCornerToCorner) {
  const std::string svg = svg_of(figure_of(slope()));
  // The axes go from the top by their corner to the right: M left,top V bottom H right.
  double left = 0;
  double top = 0;
  double bottom = 0;
  double right = 0;
  const std::size_t axes = svg.find("<path class=\"axis\"");
  ASSERT_NE(axes, std::string::npos);
  ASSERT_EQ(std::sscanf(svg.c_str() + axes, "<path class=\"axis\" d=\"M%lf,%lfV%lfH%lf", &left,
                        &top, &bottom, &right),
            4);
  EXPECT_NE(svg.find(fmt::format("points=\"{:.2f},{:.2f} ", left, bottom)), std::string::npos);
  EXPECT_NE(svg.find(fmt::format(" {:.2f},{:.2f}\"", right, top + (bottom - top) / 50)),
            std::string::npos);
  EXPECT_NE(svg.find(">0.05<"), std::string::npos) << "the highest tick";
}

TEST(Svg, ManagesOnePointAndOnlyZeros) {
  const std::string svg = svg_of(figure_of({"", "", "", {{0, 0}}}));
  EXPECT_TRUE(well_formed(svg));
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Axis, HasRoundTicksThatCoverTheData) {
  const Axis y = axis_of(0, 0.0019, 6, true);
  EXPECT_GE(y.most, 0.0019);
  ASSERT_EQ(y.ticks.size(), 5U);
  EXPECT_DOUBLE_EQ(y.ticks[3], 0.0015);
  const Axis x = axis_of(0, 99'999, 8, false);
  EXPECT_EQ(x.ticks.back(), 100'000);
  EXPECT_EQ(x.most, 100'000);
}

TEST(TextPlot, FitsTheTerminal) {
  for (const bool unicode : {false, true}) {
    for (const int columns : {20, 40, 100}) {
      std::istringstream lines(text_of(slope(), {.unicode = unicode, .columns = columns}));
      std::size_t count = 0;
      for (std::string line; std::getline(lines, line); ++count) {
        EXPECT_LE(cli::shown_width(line), static_cast<std::size_t>(columns)) << line;
      }
      EXPECT_EQ(count, 14U);
    }
  }
}

TEST(TextPlot, IsAsciiWithoutColourUnlessTheTerminalHasMore) {
  for (const char c : text_of(slope(), {})) {
    EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << static_cast<int>(c);
  }
  EXPECT_NE(text_of(slope(), {.colour = true}).find("\x1b[36m"), std::string::npos);
}

}  // namespace
}  // namespace bcos::lab::plot
