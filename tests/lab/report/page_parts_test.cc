#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "bcos/error.hpp"
#include "lab/cli/html.hpp"
#include "lab/plot/thin.hpp"
#include "lab/report/assets.hpp"
#include "lab/report/page.hpp"
#include "lab/run/metrics.hpp"
#include "tests/scratch.hpp"

namespace bcos::lab::report {
namespace {

using Json = nlohmann::ordered_json;

TEST(HtmlText, CannotOpenATagOrLeaveAnAttribute) {
  EXPECT_EQ(cli::html_text("<b a=\"1\" c='2'>&amp;"),
            "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;");
}

TEST(ScriptJson, CannotEndItsElement) {
  const Json data = {{"</script>", "<!--<script>"}, {"plain", "a/b"}};
  const std::string text = cli::script_json(data);
  EXPECT_EQ(text.find('<'), std::string::npos) << text;
  EXPECT_EQ(Json::parse(text), data);
}

TEST(ScriptJson, HasNullForNumbersThatAreNotFiniteAndSurvivesBadUtf8) {
  EXPECT_EQ(cli::script_json({{"x", run::kNoNumber}}), "{\"x\":null}");
  EXPECT_NO_THROW(cli::script_json({{"x", "\xff\xfe"}}));
}

TEST(ATemplate, IsFilledInOnePass) {
  EXPECT_EQ(cli::fill_template("a {{x}} b {{y}}{{x}}", {{"x", "{{y}}"}, {"y", "2"}}),
            "a {{y}} b 2{{y}}");
  EXPECT_EQ(cli::fill_template("no {{ end", {}), "no {{ end");
  EXPECT_THROW(cli::fill_template("{{z}}", {}), Error);
}

plot::Curve counting(std::size_t count) {
  plot::Curve curve;
  for (std::size_t i = 0; i < count; ++i) {
    curve.steps.push_back(static_cast<std::int64_t>(10 * i));
    curve.values.push_back(std::sin(static_cast<double>(i)));
  }
  return curve;
}

TEST(Thinning, LeavesShortCurvesAlone) {
  const plot::Curve curve = counting(100);
  EXPECT_EQ(plot::thin(curve, 100).steps, curve.steps);
  EXPECT_EQ(plot::piece_means(curve, 100).values, curve.values);
}

TEST(Thinning, KeepsEndsAndExtremesAndTheOrder) {
  for (const std::size_t count : {101U, 1000U, 12345U}) {
    plot::Curve curve = counting(count);
    curve.values[count / 3] = 50;
    curve.values[count / 2] = -50;
    const plot::Curve few = plot::thin(curve, 100);
    EXPECT_LE(few.steps.size(), 100U);
    EXPECT_GE(few.steps.size(), 90U);
    EXPECT_EQ(few.steps.front(), curve.steps.front());
    EXPECT_EQ(few.steps.back(), curve.steps.back());
    EXPECT_TRUE(std::ranges::is_sorted(few.steps));
    EXPECT_EQ(std::ranges::max(few.values), 50);
    EXPECT_EQ(std::ranges::min(few.values), -50);
    for (std::size_t i = 0; i < few.steps.size(); ++i) {
      EXPECT_EQ(few.values[i], curve.values[static_cast<std::size_t>(few.steps[i] / 10)]);
    }
  }
}

TEST(Thinning, KeepsGapsAsGaps) {
  plot::Curve curve = counting(1000);
  std::fill(curve.values.begin() + 200, curve.values.begin() + 400, run::kNoNumber);
  const plot::Curve few = plot::thin(curve, 50);
  EXPECT_TRUE(std::ranges::any_of(few.values, [](double value) { return std::isnan(value); }));
}

TEST(PieceMeans, HaveTheMeanOfEveryPiece) {
  const plot::Curve curve = {.steps = {0, 1, 2, 3, 4, 5},
                             .values = {1, 3, run::kNoNumber, 4, 10, 20}};
  const plot::Curve means = plot::piece_means(curve, 3);
  EXPECT_EQ(means.steps, (std::vector<std::int64_t>{1, 3, 5}));
  EXPECT_EQ(means.values, (std::vector<double>{2, 4, 15}));
}

TEST(ThePagesFiles, AreInTheProgramAndFitIntoAPage) {
  EXPECT_TRUE(page_html().starts_with("<!doctype html>"));
  EXPECT_TRUE(page_html().ends_with("</html>\n"));
  EXPECT_NE(page_css().find("prefers-color-scheme: dark"), std::string_view::npos);
  for (const std::string_view script : {chart_js(), diagnosis_js(), page_js()}) {
    EXPECT_FALSE(script.empty());
    EXPECT_EQ(script.find("</script"), std::string_view::npos);
    EXPECT_EQ(script.find("<!--"), std::string_view::npos);
  }
}

TEST(AComparisonPage, NeedsARun) { EXPECT_THROW(compare_page("none", {}), Error); }

TEST(AComparisonPage, ShowsOnceWhatAllRunsHaveInCommon) {
  std::vector<run::RunRecord> runs(2);
  runs[0].settings = {{"width", "64"}, {"lr", "0.1"}};
  runs[1].settings = {{"width", "64"}, {"lr", "0.2"}, {"extra", "yes"}};
  const std::string page = compare_page("two", runs);
  EXPECT_NE(page.find("<th scope=\"row\">width</th><td>64</td>"), std::string::npos);
  EXPECT_NE(page.find("<th>lr</th><th>extra</th>"), std::string::npos);
  EXPECT_NE(page.find("<td>0.1</td><td>–</td>"), std::string::npos);
}

TEST(WritingAPage, ReplacesTheFile) {
  const auto path = bcos::testing::scratch_path("page");
  cli::write_page(path.string(), "a longer first text");
  cli::write_page(path.string(), "second");
  std::string text;
  std::getline(std::ifstream(path), text);
  EXPECT_EQ(text, "second");
  std::filesystem::remove(path);
  EXPECT_THROW(cli::write_page("/nowhere/at/all.html", "x"), Error);
}

}  // namespace
}  // namespace bcos::lab::report
