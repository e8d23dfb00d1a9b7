#include "lab/cli/method_text.hpp"

#include <gtest/gtest.h>

#include "bcos/methods.hpp"
#include "lab/cli/human.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/table.hpp"

namespace bcos::lab::cli {
namespace {

TEST(Table, AlignsColumnsWithoutTrailingSpaces) {
  Table table({{"name"}, {"n", Align::right}, {"note"}});
  table.add({"a", "10", "x"});
  table.add({"long name", "5", ""});
  table.add({"é", "1", "y"});
  EXPECT_EQ(table.text("> "),
            "> name        n  note\n"
            "> a          10  x\n"
            "> long name   5\n"
            "> é           1  y\n");
}

TEST(ShownWidth, CountsNeitherColoursNorContinuationBytes) {
  EXPECT_EQ(shown_width(coloured("ok", Colour::green, {.colour = true})), 2U);
  EXPECT_EQ(shown_width("⠉é"), 2U);
}

TEST(Wrapped, BreaksAtSpacesAlone) {
  EXPECT_EQ(wrapped("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("incomprehensible to me", 6),
            (std::vector<std::string>{"incomprehensible", "to me"}));
  EXPECT_EQ(wrapped("é ü  ö", 5), (std::vector<std::string>{"é ü ö"}));
  EXPECT_TRUE(wrapped("", 5).empty());
  EXPECT_TRUE(wrapped("  ", 5).empty());
}

TEST(Coloured, IsPlainWhereThereIsNoColour) { EXPECT_EQ(coloured("ok", Colour::red, {}), "ok"); }

TEST(Visible, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(visible("a\x1b[31m\n\x7f"), "a\\x1b[31m\\x0a\\x7f");
  EXPECT_EQ(visible("\xC2\x9B"), "\\x9b");
  EXPECT_EQ(visible("é"), "é");
}

TEST(NumbersOfText, AreTheWholeText) {
  EXPECT_EQ(real_of("2e-3"), 0.002);
  EXPECT_EQ(real_of("2e-3x"), std::nullopt);
  EXPECT_EQ(real_of(""), std::nullopt);
  EXPECT_EQ(whole_of("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(whole_of("18446744073709551616"), std::nullopt);
  EXPECT_EQ(whole_of("-1"), std::nullopt);
  EXPECT_EQ(whole_of("1.5"), std::nullopt);
}

TEST(MethodSummary, IsTheNameWhereThereIsOne) {
  for (const NamedMethod& named : named_methods()) EXPECT_EQ(summary_of(*named.method), named.id);
  EXPECT_EQ(summary_of(method_by_name("bcosw_c@paper")), "bcosw_c@paper");
}

TEST(MethodSummary, SaysWhatDiffersFromTheNearestName) {
  EXPECT_EQ(summary_of(with(bcosw_c, {.lambda = 0.05})), "bcosw_c, lambda 0.05");
  EXPECT_EQ(summary_of(with(adamw, {.blocks = Blocks::of(Layout::row)})), "adamw, blocks row");
  EXPECT_EQ(summary_of(with(bcos_m, {.blocks = Blocks::of_lists({{0, 2}, {1}})})),
            "bcos_m, blocks 2 lists");
}

TEST(Formula, ShowsWhatTheMethodReads) {
  EXPECT_EQ(formula_of(bcosw_c),
            "m' = beta m + (1-beta) g, d = m', "
            "v = beta^2 |m|^2 + 2 beta (1-beta) <m, m'> + (1-beta)^2 |g|^2, "
            "x' = (1 - alpha lambda) x - alpha d / sqrt(v + eps_root)");
  EXPECT_EQ(formula_of(sign_sgd),
            "g = gradient + lambda x, d = g, v = |d|^2, x' = x - alpha d / sqrt(v)");
  for (const NamedMethod& named : named_methods()) {
    EXPECT_EQ(formula_of(*named.method).find('\n'), std::string::npos);
  }
}

TEST(StateBytes, AreThoseOfSingleCoordinates) {
  EXPECT_EQ(state_bytes(sgd), 0);
  EXPECT_EQ(state_bytes(bcosw_c), 4);
  EXPECT_EQ(state_bytes(adamw), 8);
}

}  // namespace
}  // namespace bcos::lab::cli
