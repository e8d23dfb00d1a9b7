#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lab/plot/assets.hpp"
#include "lab/plot/axes.hpp"
#include "lab/plot/formula_text.hpp"
#include "lab/plot/marks.hpp"
#include "lab/report/assets.hpp"

namespace bcos::lab::plot {
namespace {

using Mark = Figure::Mark;
using Scale = Figure::Scale;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Figure figure_with(std::vector<Figure::Series> series, Scale scale = Scale::linear) {
  return {.title = "title",
          .caption = "caption",
          .x = {.label = "x", .scale = scale},
          .y = {.label = "y", .scale = scale},
          .series = std::move(series)};
}

Figure::Series series_of(const std::string& label, Mark mark, std::vector<double> x,
                         std::vector<double> y) {
  return {.label = label, .mark = mark, .x = std::move(x), .y = std::move(y)};
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(ALinearAxis, EndsAtRoundNumbersBelowZeroToo) {
  const Axis axis = axis_of(-0.31, 0.93, 6, true);
  EXPECT_DOUBLE_EQ(axis.least, -0.5);
  EXPECT_DOUBLE_EQ(axis.most, 1);
  EXPECT_EQ(tick_labels(axis), (std::vector<std::string>{"-0.5", "0", "0.5", "1"}));
}

TEST(ALinearAxis, ManagesRangesThatAreDegenerate) {
  for (const auto& [least, most] : {std::pair{0.0, 0.0},
                                    {5.0, 5.0},
                                    {-2.0, -2.0},
                                    {1e-300, 1e-300},
                                    {-1e308, 1e308},
                                    {1.0, 1.0 + 1e-15},
                                    {0.0, 5e-324}}) {
    const Axis axis = axis_of(least, most, 6, true);
    EXPECT_LT(axis.least, axis.most);
    EXPECT_LE(axis.least, least);
    EXPECT_GE(axis.most, most);
    EXPECT_GE(axis.ticks.size(), 2U) << least;
    EXPECT_LE(axis.ticks.size(), 12U) << least;
    EXPECT_TRUE(std::isfinite(axis.part(least))) << least;
  }
}

TEST(ALinearAxis, WritesLargeAndSmallNumbersWithOnePower) {
  EXPECT_EQ(tick_labels(axis_of(0, 1e-5, 2, true)),
            (std::vector<std::string>{"0", "0.5·10⁻⁵", "1·10⁻⁵"}));
  EXPECT_EQ(tick_labels(axis_of(0, 100'000, 2, true)),
            (std::vector<std::string>{"0", "50000", "100000"}));
}

TEST(ALogarithmicAxis, MarksDecades) {
  const Axis axis = log_axis_of(0.002, 300, 8);
  EXPECT_EQ(tick_labels(axis), (std::vector<std::string>{"0.01", "0.1", "1", "10", "100"}));
  EXPECT_FALSE(axis.small_ticks.empty());
  EXPECT_NEAR(axis.part(std::sqrt(0.002 * 300)), 0.5, 1e-12);
}

TEST(ALogarithmicAxis, SkipsDecadesWhereThereAreMany) {
  const Axis axis = log_axis_of(1e-300, 1e300, 8);
  EXPECT_LE(axis.ticks.size(), 9U);
  EXPECT_GE(axis.ticks.size(), 4U);
  EXPECT_EQ(tick_labels(log_axis_of(1e-6, 1, 4)),
            (std::vector<std::string>{"10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"}));
}

TEST(ALogarithmicAxis, HasTicksWithinADecadeToo) {
  EXPECT_EQ(tick_labels(log_axis_of(1.5, 30, 8)), (std::vector<std::string>{"2", "5", "10", "20"}));
  for (const auto& [least, most] :
       {std::pair{3.0, 4.0}, {7.0, 7.0}, {2.3e-308, 2.3e-308}, {1.7e308, 1.7e308}}) {
    const Axis axis = log_axis_of(least, most, 8);
    EXPECT_LT(axis.least, axis.most);
    EXPECT_GE(axis.ticks.size(), 2U) << least;
    for (const double tick : axis.ticks) EXPECT_TRUE(std::isfinite(axis.part(tick))) << tick;
  }
}

TEST(ALogarithmicAxis, HasOnlyPositiveNumbers) {
  const Axis axis = log_axis_of(1, 10, 8);
  EXPECT_TRUE(axis.has(1e-300));
  for (const double value : {0.0, -1.0, 1e-320, kNan, kInfinity}) EXPECT_FALSE(axis.has(value));
}

TEST(AFigure, HasTitleDescriptionAndLegend) {
  const std::string svg = svg_of(figure_with({series_of("one", Mark::line, {0, 1}, {0, 1}),
                                              series_of("two", Mark::dashed, {0, 1}, {1, 0})}));
  EXPECT_NE(svg.find("<title>title</title>"), std::string::npos);
  EXPECT_NE(svg.find("<desc>caption</desc>"), std::string::npos);
  EXPECT_EQ(count_of(svg, ">one</text>"), 1U);
  EXPECT_EQ(count_of(svg, "stroke-dasharray"), 2U) << "a line and its legend";
  EXPECT_NE(svg.find(".chart .c0"), std::string::npos) << "its style";
  EXPECT_EQ(inline_svg_of(figure_with({})).find("<style>"), std::string::npos);
}

TEST(AFigure, EscapesItsWords) {
  Figure figure = figure_with({series_of("<script>", Mark::line, {0, 1}, {0, 1})});
  figure.title = figure.caption = figure.x.label = figure.y.label = "</svg> & \"x\"";
  const std::string svg = svg_of(figure);
  EXPECT_EQ(count_of(svg, "</svg>"), 1U);
  EXPECT_EQ(svg.find("<script>"), std::string::npos);
  EXPECT_EQ(count_of(svg, "&lt;/svg&gt; &amp; &quot;x&quot;"), 5U);
}

TEST(AFigure, IsDrawnWithoutSeriesOrPoints) {
  for (const Scale scale : {Scale::linear, Scale::log}) {
    for (const Figure& figure :
         {figure_with({}, scale), figure_with({series_of("none", Mark::line, {}, {})}, scale),
          figure_with({series_of("bad", Mark::points, {kNan, 1}, {1, kInfinity})}, scale)}) {
      const std::string svg = svg_of(figure);
      EXPECT_EQ(svg.find("nan"), std::string::npos);
      EXPECT_EQ(svg.find("inf"), std::string::npos);
      EXPECT_TRUE(svg.ends_with("</svg>\n"));
    }
  }
}

TEST(AFigure, IsDrawnAtTheEndsOfTheNumbers) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  for (const Scale scale : {Scale::linear, Scale::log}) {
    const Figure figure =
        figure_with({series_of("", Mark::line, {1e-307, kLargest}, {kLargest, 1e-307})}, scale);
    EXPECT_EQ(svg_of(figure).find("nan"), std::string::npos);
    EXPECT_EQ(count_of(svg_of(figure), "<polyline"), 1U);
  }
}

TEST(AFigure, LeavesOutWhatCannotBeDrawn) {
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7};
  const std::vector<double> y = {1, 2, kNan, 4, 5, -1, 0};
  const std::string linear = svg_of(figure_with({series_of("", Mark::points, x, y)}));
  EXPECT_EQ(count_of(linear, "class=\"point\""), 6U);
  const std::string log = svg_of(figure_with({series_of("", Mark::points, x, y)}, Scale::log));
  EXPECT_EQ(count_of(log, "class=\"point\""), 4U);
  const std::string line = svg_of(figure_with({series_of("", Mark::line, x, y)}, Scale::log));
  EXPECT_EQ(count_of(line, "<polyline"), 2U) << "a gap is a gap";
}

TEST(AFigure, LeavesOutBandsAndArrowsThatAreNotWhole) {
  Figure::Series band = series_of("band", Mark::band, {1, 2, 3, 4}, {1, 1, 1, 1});
  band.y2 = {2, kNan, 1e9};
  const std::string bands = svg_of(figure_with({band}));
  EXPECT_EQ(count_of(bands, "class=\"band\""), 3U) << "two pieces and the legend";
  Figure::Series arrows = series_of("", Mark::arrows, {1, 2, 3}, {1, 1, 1});
  arrows.dx = {1, -2.5, 1};
  arrows.dy = {1, 1, kInfinity};
  EXPECT_EQ(count_of(svg_of(figure_with({arrows})), "class=\"arrow\""), 2U);
  EXPECT_EQ(count_of(svg_of(figure_with({arrows}, Scale::log)), "class=\"arrow\""), 1U);
}

TEST(AFigure, GivesOneLabelOneLook) {
  const Figure figure = figure_with(
      {series_of("mean", Mark::line, {0, 1}, {0, 1}), series_of("mean", Mark::band, {0, 1}, {0, 1}),
       series_of("other", Mark::line, {0, 1}, {0, 1}), series_of("", Mark::line, {0, 1}, {0, 1})});
  const std::vector<Look> looks = looks_of(figure);
  ASSERT_EQ(looks.size(), 3U);
  EXPECT_EQ(looks[0].colour, "c0");
  EXPECT_EQ(looks[0].marks, (std::vector<Mark>{Mark::line, Mark::band}));
  EXPECT_EQ(looks[1].colour, "c1");
  EXPECT_TRUE(looks[1].dotted) << "told apart without colour";
  EXPECT_EQ(looks[2].colour, "plain");
}

TEST(AFigure, BeginsAtZeroWhereItShouldOrIsNear) {
  Figure figure = figure_with({series_of("", Mark::line, {0, 1}, {99, 100})});
  EXPECT_EQ(svg_of(figure).find(">40<"), std::string::npos);
  figure.y.from_zero = true;
  EXPECT_NE(svg_of(figure).find(">40<"), std::string::npos);
}

TEST(TheColoursOfFigures, AreThoseOfPages) {
  const std::string page(report::page_css());
  const std::string figure(figure_css());
  for (int i = 0; i < 8; ++i) {
    const std::string name = "--c" + std::to_string(i) + ": ";
    std::size_t at = page.find(name);
    for (int theme = 0; theme < 2; ++theme) {
      ASSERT_NE(at, std::string::npos);
      const std::string colour = page.substr(at + name.size(), 7);
      EXPECT_NE(figure.find(".c" + std::to_string(i) + " { color: " + colour), std::string::npos);
      at = page.find(name, at + 1);
    }
  }
}

TEST(AFormula, IsMadeReadable) {
  EXPECT_EQ(formula_html("E|x_{t+1} - x_*|^2 <= alpha^2 B_*"),
            "E|x<sub>t+1</sub> − x<sub>*</sub>|<sup>2</sup> ≤ α<sup>2</sup> B<sub>*</sub>");
  EXPECT_EQ(formula_html("<e, phi + lambda x_*> >= 0"), "⟨e, φ + λ x<sub>*</sub>⟩ ≥ 0");
  EXPECT_EQ(formula_html("|x|_inf -> 0, sqrt(rho_k), (t+1)^(2p), 10^-3, t^.75."),
            "|x|<sub>∞</sub> → 0, √(ρ<sub>k</sub>), (t+1)<sup>2p</sup>, 10<sup>−3</sup>, "
            "t<sup>.75</sup>.");
  EXPECT_EQ(formula_html("(1-beta) x_1-x_* -1"), "(1−β) x<sub>1</sub>−x<sub>*</sub> −1");
  EXPECT_EQ(formula_html("erf(r/sqrt 2), max_k"), "erf(r/√2), max<sub>k</sub>");
  EXPECT_EQ(formula_html("sum_k Var_t(v)"), "∑<sub>k</sub> Var<sub>t</sub>(v)");
}

TEST(AFormula, LeavesOtherTextsAlone) {
  for (const char* text : {"cond_full and bcosw_c", "a well-known word", "1e-3", "x-axis", "-nan",
                           "p ^ q", "x_", "(a, b)"}) {
    EXPECT_EQ(formula_html(text), text);
  }
  EXPECT_EQ(formula_html("1/2 < p < 1 & q > 2"), "1/2 &lt; p &lt; 1 &amp; q &gt; 2");
  EXPECT_EQ(formula_html("a<b and c>d"), "a&lt;b and c&gt;d");
}

TEST(AFormulaInAnSvg, ComesBackToItsLine) {
  EXPECT_EQ(formula_svg("x_t y"),
            "x<tspan dy=\"3\" font-size=\"75%\">t</tspan><tspan dy=\"-3\"> y</tspan>");
  EXPECT_DOUBLE_EQ(formula_width("x_t"), 1.75);
}

}  // namespace
}  // namespace bcos::lab::plot
