#include "lab/cli/progress.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace bcos::lab::cli {
namespace {

/// A terminal of paper with a clock that stands still.
class Paper : public ::testing::Test {
 protected:
  Progress::Style style() {
    Progress::Style result;
    result.screen = {[this] { return terminal_; },
                     [this](std::string_view text) { written_.emplace_back(text); },
                     [this] { return now_; }};
    return result;
  }

  /// What the last write put on the bar's line.
  std::string shown() const {
    if (written_.empty()) return {};
    std::string text = written_.back();
    for (const std::string_view escape : {"\x1b[?25l", "\x1b[?25h", "\x1b[K", "\r"}) {
      for (std::size_t at = text.find(escape); at != text.npos; at = text.find(escape)) {
        text.erase(at, escape.size());
      }
    }
    return text;
  }

  std::string all() const {
    std::string text;
    for (const std::string& part : written_) text += part;
    return text;
  }

  Terminal terminal_{.present = true, .colour = false, .unicode = true, .columns = 100};
  double now_ = 1000;
  std::vector<std::string> written_;
};

using AProgressBar = Paper;

TEST_F(AProgressBar, ShowsPercentBarCountTextAndTimes) {
  Progress progress(1000, style());
  for (std::uint64_t done = 0; done <= 420; done += 42) {
    progress.update(done, "loss 2.314");
    now_ += done < 420 ? 10 : 0;
  }
  EXPECT_EQ(shown(), " 42% ██████████               420/1000  loss 2.314  1m 40s, 2m 18s left");
}

TEST_F(AProgressBar, IsAsciiWhereTheLocaleIs) {
  terminal_.unicode = false;
  Progress progress(4, style());
  progress.update(3, "");
  EXPECT_EQ(shown(), " 75% ##################...... 3/4  0.0s");
}

TEST_F(AProgressBar, HasColourOnlyWhereTheTerminalHas) {
  {
    Progress progress(4, style());
    progress.update(2, "");
  }
  EXPECT_EQ(all().find("\x1b[36m"), std::string::npos);
  terminal_.colour = true;
  Progress progress(4, style());
  progress.update(2, "");
  EXPECT_NE(all().find("\x1b[36m"), std::string::npos);
}

TEST_F(AProgressBar, IsRedrawnAtMostTenTimesASecond) {
  Progress progress(100'000, style());
  for (std::uint64_t done = 0; done < 2000; ++done) {
    progress.update(done, "");
    now_ += 0.001;
  }
  EXPECT_GE(written_.size(), 19U);
  EXPECT_LE(written_.size(), 21U);
}

TEST_F(AProgressBar, FollowsTheWindowAndIsNeverWiderThanIt) {
  Progress progress(1000, style());
  const std::string text = "loss 2.314  lr 3.1e-3  61.8k tok/s  漢字 and a good deal more of it";
  for (const bool unicode : {true, false}) {
    terminal_.unicode = unicode;
    for (int columns = 1; columns < 200; ++columns) {
      terminal_.columns = columns;
      now_ += 1;
      progress.update(500, text);
      EXPECT_LT(display_columns(shown()), columns) << shown();
      EXPECT_EQ(written_.back().find('\n'), std::string::npos);
    }
    EXPECT_NE(shown().find(text), std::string::npos) << shown();
  }
}

TEST_F(AProgressBar, CutsLongTextWithAnEllipsisAndKeepsTheTimes) {
  terminal_.columns = 80;
  Progress progress(10, style());
  progress.update(5, std::string(200, 'x'));
  EXPECT_EQ(display_columns(shown()), 79);
  EXPECT_NE(shown().find("x…  0.0s"), std::string::npos) << shown();
}

TEST_F(AProgressBar, ShowsControlCharactersInsteadOfObeyingThem) {
  Progress progress(10, style());
  progress.update(5, "a\nb\x1b[2J");
  EXPECT_NE(shown().find("a\\x0ab\\x1b[2J"), std::string::npos) << shown();
}

TEST_F(AProgressBar, HidesTheCursorOnceAndGivesItBack) {
  {
    Progress progress(10, style());
    progress.update(1, "");
    now_ += 1;
    progress.update(2, "");
    EXPECT_EQ(all().find("\x1b[?25h"), std::string::npos);
    progress.finish();
    progress.update(3, "");
  }
  const std::string text = all();
  EXPECT_EQ(text.find("\x1b[?25l"), text.rfind("\x1b[?25l"));
  EXPECT_TRUE(text.ends_with("\n\x1b[?25h")) << text;
  EXPECT_EQ(text.find("\x1b[?25h"), text.rfind("\x1b[?25h"));
}

TEST_F(AProgressBar, GivesTheCursorBackWhenAnExceptionUnwinds) {
  try {
    Progress progress(10, style());
    progress.update(1, "");
    throw std::runtime_error("stop");
  } catch (const std::runtime_error&) {
    EXPECT_TRUE(all().ends_with("\x1b[?25h"));
  }
}

TEST_F(AProgressBar, ShowsTheLastStateWhenItEnds) {
  {
    Progress progress(10, style());
    progress.update(1, "first");
    progress.update(10, "last");
  }
  EXPECT_NE(all().find("100%"), std::string::npos);
  EXPECT_NE(all().find("10/10  last"), std::string::npos);
}

TEST_F(AProgressBar, PrintsLinesAboveItself) {
  Progress progress(10, style());
  progress.line("before");
  EXPECT_EQ(all(), "before\n");
  progress.update(5, "now");
  written_.clear();
  progress.line("saved step 5");
  ASSERT_EQ(written_.size(), 2U);
  EXPECT_EQ(written_[0], "\r\x1b[Ksaved step 5\n");
  EXPECT_NE(shown().find("5/10  now"), std::string::npos);
}

TEST_F(AProgressBar, IsNotDrawnWithoutATerminal) {
  terminal_.present = false;
  {
    Progress progress(10, style());
    EXPECT_FALSE(progress.drawn());
    progress.update(1, "text");
    progress.line("a line");
  }
  EXPECT_EQ(all(), "a line\n");
}

TEST_F(AProgressBar, WritesNothingIfNothingWasEverDone) {
  {
    const Progress progress(10, style());
  }
  EXPECT_EQ(all(), "");
}

TEST_F(AProgressBar, IsNotMovedByOnePauseInItsGuessOfTheTimeLeft) {
  Progress progress(1000, style());
  std::uint64_t done = 0;
  for (; done < 20; ++done, now_ += 1) progress.update(done, "");
  now_ += 600;
  progress.update(done, "");
  EXPECT_NE(shown().find("16m 20s left"), std::string::npos) << shown();
}

TEST_F(AProgressBar, FollowsAChangeOfPace) {
  Progress progress(10'000, style());
  std::uint64_t done = 0;
  for (int i = 0; i < 40; ++i, now_ += 1) progress.update(done += 10, "");
  for (int i = 0; i < 40; ++i, now_ += 1) progress.update(done += 1, "");
  EXPECT_NE(shown().find("2h 39m left"), std::string::npos) << shown();
}

TEST_F(AProgressBar, OfAResumedRunCountsOnlyWhatItHasSeen) {
  Progress progress(1000, style());
  progress.update(900, "");
  EXPECT_EQ(shown().find("left"), std::string::npos);
  now_ += 10;
  progress.update(910, "");
  EXPECT_NE(shown().find(", 1m 30s left"), std::string::npos) << shown();
}

TEST_F(AProgressBar, HasNoTimeLeftWhileNothingMoves) {
  Progress progress(1000, style());
  for (int i = 0; i < 5; ++i, now_ += 1) progress.update(7, "");
  EXPECT_EQ(shown().find("left"), std::string::npos) << shown();
}

TEST_F(AProgressBar, OfAnUnknownTotalHasOnlyACount) {
  Progress progress(0, style());
  progress.update(7, "files");
  EXPECT_EQ(shown(), "7  files  0.0s");
}

TEST_F(AProgressBar, IsFullWhenMoreIsDoneThanThereWas) {
  Progress progress(10, style());
  progress.update(12, "");
  EXPECT_EQ(shown(), "100% ████████████████████████ 12/10  0.0s");
}

TEST(ATextCutToColumns, CountsThemAsATerminalDoes) {
  EXPECT_EQ(display_columns("loss"), 4);
  EXPECT_EQ(display_columns("漢字"), 4);
  EXPECT_EQ(display_columns("e\u0301"), 1);
  EXPECT_EQ(display_columns("🚀"), 2);
  EXPECT_EQ(display_columns("\xFF\xC3"), 2);
  EXPECT_EQ(fitted("abcdef", 6, true), "abcdef");
  EXPECT_EQ(fitted("abcdef", 5, true), "abcd…");
  EXPECT_EQ(fitted("abcdef", 5, false), "ab...");
  EXPECT_EQ(fitted("漢字漢字", 6, true), "漢字…");
  EXPECT_EQ(fitted("abcdef", 1, true), "…");
  EXPECT_EQ(fitted("abcdef", 0, true), "");
  EXPECT_EQ(fitted("abcdef", 2, false), "");
}

TEST(ANumberForPeople, HasThreeDigitsAndAUnit) {
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(7), "7");
  EXPECT_EQ(human_count(2.5), "2.50");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(1000), "1.00k");
  EXPECT_EQ(human_count(61'834), "61.8k");
  EXPECT_EQ(human_count(999'499), "999k");
  EXPECT_EQ(human_count(999'500), "1.00M");
  EXPECT_EQ(human_count(124'475'904), "124M");
  EXPECT_EQ(human_count(-1234), "-1.23k");
  EXPECT_EQ(human_bytes(444'416), "444 kB");
  EXPECT_EQ(human_bytes(12), "12 B");
  EXPECT_EQ(human_bytes(9'995), "10.0 kB");
  EXPECT_EQ(human_bytes(1.5e9), "1.50 GB");
}

TEST(ATimeForPeople, HasTwoUnits) {
  EXPECT_EQ(human_time(0), "0.0s");
  EXPECT_EQ(human_time(4.21), "4.2s");
  EXPECT_EQ(human_time(9.96), "10s");
  EXPECT_EQ(human_time(59.6), "1m 00s");
  EXPECT_EQ(human_time(83), "1m 23s");
  EXPECT_EQ(human_time(3723), "1h 02m");
  EXPECT_EQ(human_time(100'000), "1d 03h");
  for (const double odd :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(human_time(odd), "?");
  }
}

}  // namespace
}  // namespace bcos::lab::cli
