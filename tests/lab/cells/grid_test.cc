#include "lab/cells/grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "lab/run/recipe.hpp"
#include "tests/engine/expect_error.hpp"

namespace bcos::lab::cells {
namespace {

using bcos::testing::error_of;
using run::Settings;

std::optional<double> nothing(const Settings& /*cell*/) { return {}; }

Grid grid_of(std::string_view methods) {
  Grid grid;
  grid.methods = run::method_entries(methods);
  return grid;
}

std::vector<Settings> cells_of(const Grid& grid) { return cells::cells_of(grid, nothing); }

std::set<std::string> names_of(const std::vector<Settings>& cells) {
  std::set<std::string> names;
  for (const Settings& cell : cells) names.insert(cell.name);
  return names;
}

TEST(AGrid, HasARunForEveryMethodRateAndSeedOneSeedAfterTheOther) {
  Grid grid = grid_of("adamw:beta_v=0.95,bcosw_c");
  grid.adamw_lrs = {0.008, 0.016};
  grid.seeds = {0, 1, 2};
  const std::vector<Settings> cells = cells_of(grid);
  ASSERT_EQ(cells.size(), 12U);
  EXPECT_TRUE(cells[0].name.starts_with("adamw-lr0.008-")) << cells[0].name;
  EXPECT_EQ(cells[0].beta_v, 0.95);
  EXPECT_TRUE(cells[11].name.starts_with("bcosw_c-lr0.004-")) << cells[11].name;
  EXPECT_EQ(run::lr_of(cells[11]), 0.004);
  EXPECT_EQ(cells[3].seed, 0U);
  EXPECT_EQ(cells[4].seed, 1U);
}

TEST(AGrid, TakesItsRatesBeforeThatOfItsBase) {
  Grid grid = grid_of("bcosw_c");
  grid.base.lr = 0.5;
  grid.lrs = {0.25};
  grid.adamw_lrs = {0.008};
  const std::vector<Settings> cells = cells_of(grid);
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_EQ(run::lr_of(cells[0]), 0.25);
  EXPECT_EQ(run::lr_of(cells[1]), 0.002);
}

TEST(AGrid, NamesACellByItsRecipeAlone) {
  const auto whole = names_of(cells_of(grid_of("bcosw_c,bcosw_c:beta=0.8,adamw")));
  ASSERT_EQ(whole.size(), 3U);
  EXPECT_EQ(names_of(cells_of(grid_of("adamw,bcosw_c:beta=0.8,bcosw_c"))), whole);
  Grid grid = grid_of("bcosw_c");
  grid.equal_decay = false;
  const auto usual = names_of(cells_of(grid));
  grid.axes = {axis_of("beta=0.8,0.9")};
  EXPECT_EQ(names_of(cells_of(grid)).count(*usual.begin()), 1U);
}

TEST(AGrid, GivesAllMethodsTheSameAlphaTimesLambda) {
  const std::vector<Settings> cells = cells_of(grid_of("bcosw_c,adamw:weight_decay=0.1,bcosw_m"));
  for (const Settings& cell : cells) {
    EXPECT_NEAR(run::decay_rate_of(cell), 2e-3 * 0.1, 1e-12) << cell.name;
  }
  EXPECT_NEAR(run::method_of(cells[0]).lambda, 0.4, 1e-12);
}

TEST(AGrid, LeavesDecayAloneWhereItIsVariedOrGiven) {
  Grid grid = grid_of("adamw,bcosw_c");
  grid.axes = {axis_of("weight_decay=0.01,0.1")};
  const std::vector<Settings> varied = cells_of(grid);
  ASSERT_EQ(varied.size(), 4U);
  EXPECT_EQ(run::method_of(varied[0]).lambda, 0.01);
  EXPECT_EQ(run::method_of(varied[3]).lambda, 0.1);
  const std::vector<Settings> given = cells_of(grid_of("adamw,bcosw_c:weight_decay=0.2"));
  EXPECT_EQ(run::method_of(given[1]).lambda, 0.2);
  grid.axes.clear();
  grid.base.weight_decay = 0.3;
  for (const Settings& cell : cells_of(grid)) EXPECT_EQ(run::method_of(cell).lambda, 0.3);
}

TEST(AGrid, VariesAnySettingAndMethodsAsJson) {
  Grid grid = grid_of(R"({"method":"bcosw_c","blocks":"tensor"},bcosw_c)");
  grid.axes = {axis_of("schedule=step"), axis_of("milestones=3+5,4")};
  const std::vector<Settings> cells = cells_of(grid);
  ASSERT_EQ(cells.size(), 4U);
  EXPECT_EQ(cells[0].milestones, (std::vector<std::uint64_t>{3, 5}));
  EXPECT_EQ(cells[1].milestones, (std::vector<std::uint64_t>{4}));
  EXPECT_TRUE(cells[0].name.starts_with("bcosw_c-")) << cells[0].name;
  EXPECT_EQ(names_of(cells).size(), 4U);
}

TEST(AGrid, OfWrongWordsIsRefused) {
  EXPECT_NE(error_of([] { axis_of("beat=.8,.9"); }).find("did you mean 'beta'"), std::string::npos);
  EXPECT_NE(error_of([] { axis_of("lr="); }).find("different values"), std::string::npos);
  EXPECT_NE(error_of([] { axis_of("beta=.8,.8"); }).find("different values"), std::string::npos);
  EXPECT_NE(error_of([] { axis_of("beta"); }).find("KEY=V,V"), std::string::npos);
  EXPECT_NE(error_of([] { axis_of("seed=0,0"); }).find("see --seeds"), std::string::npos);
  EXPECT_NE(error_of([] { axis_of("out=a,b"); }).find("can be varied"), std::string::npos);
  Grid grid = grid_of("bcosw_c");
  grid.axes = {axis_of("beta=0.8"), axis_of("beta=0.9")};
  EXPECT_NE(error_of([&] { cells_of(grid); }).find("twice"), std::string::npos);
  grid.axes = {axis_of("weight_decay=0.1"), axis_of("decay_rate=0.1")};
  EXPECT_NE(error_of([&] { cells_of(grid); }).find("only one of"), std::string::npos);
  grid.axes = {axis_of("lr=0.1,0.2")};
  grid.growth.emplace();
  EXPECT_NE(error_of([&] { cells_of(grid); }).find("several"), std::string::npos);
  EXPECT_NE(error_of([] { cells_of(grid_of("bcosw_c:fast")); }).find("NAME:key=value"),
            std::string::npos);
  EXPECT_NE(error_of([] { cells_of(grid_of("bcosw_c,adamw:beta_w=1")); }).find("did you mean"),
            std::string::npos);
}

TEST(Seeds, AreListsAndRanges) {
  EXPECT_EQ(seeds_of("1-3,7"), (std::vector<std::uint64_t>{1, 2, 3, 7}));
  for (const char* text : {"0,0", "1-3,2", "3-1", "", "a", "1-", "0-99999"}) {
    EXPECT_NE(error_of([&] { seeds_of(text); }).find("different seeds"), std::string::npos) << text;
  }
}

/// A world in which the loss of a rate is known.
class AGrowingGrid : public ::testing::Test {
 protected:
  /// Runs all that is asked for until nothing more is; returns the rates of seed 0, the least
  /// first.
  std::vector<double> grown(const std::function<double(double)>& loss) {
    std::map<std::string, double> done;
    const auto finished = [&](const Settings& cell) -> std::optional<double> {
      const auto found = done.find(cell.name);
      return found == done.end() ? std::nullopt : std::optional(found->second);
    };
    std::size_t before = 0;
    do {
      before = done.size();
      cells_ = cells::cells_of(grid_, finished);
      for (const Settings& cell : cells_) done[cell.name] = loss(run::lr_of(cell));
    } while (done.size() > before);
    std::vector<double> rates;
    for (const Settings& cell : cells_) {
      if (cell.seed == 0) rates.push_back(run::lr_of(cell));
    }
    return rates;
  }
  std::set<double> judged() const {
    std::set<double> rates;
    for (const Settings& cell : cells_) {
      if (cell.seed != 0) rates.insert(run::lr_of(cell));
    }
    return rates;
  }
  void SetUp() override {
    grid_ = grid_of("bcosw_c");
    grid_.base.adamw_lr = 0.016;
    grid_.seeds = {1, 2};
    grid_.growth.emplace();
  }

  Grid grid_;
  std::vector<Settings> cells_;
};

TEST_F(AGrowingGrid, StopsWhereTheBestLiesInside) {
  const auto valley = [](double at) {
    return [at](double lr) { return std::abs(std::log2(lr / at)); };
  };
  EXPECT_EQ(grown(valley(0.004)), (std::vector<double>{0.002, 0.004, 0.008}));
  EXPECT_EQ(judged(), (std::set<double>{0.004}));
  EXPECT_EQ(grown(valley(0.016)), (std::vector<double>{0.002, 0.004, 0.008, 0.016, 0.032}));
  EXPECT_EQ(judged(), (std::set<double>{0.016}));
  EXPECT_EQ(grown(valley(0.001)), (std::vector<double>{0.0005, 0.001, 0.002, 0.004, 0.008}));
}

TEST_F(AGrowingGrid, TakesADivergedNeighbourForAClosedEnd) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto cliff = [&](double lr) { return lr > 0.005 ? inf : 1 / lr; };
  EXPECT_EQ(grown(cliff), (std::vector<double>{0.002, 0.004, 0.008}));
  EXPECT_EQ(judged(), (std::set<double>{0.004}));
}

TEST_F(AGrowingGrid, EndsSomewhereAndKeepsTheRateOfDecay) {
  grid_.growth->most = 5;
  EXPECT_EQ(grown([](double lr) { return -lr; }).size(), 5U);
  for (const Settings& cell : cells_) {
    EXPECT_NEAR(run::decay_rate_of(cell), 0.016 * 0.1, 1e-12) << cell.name;
  }
}

TEST_F(AGrowingGrid, AsksForNothingMoreUntilAllIsThere) { EXPECT_EQ(cells_of(grid_).size(), 3U); }

}  // namespace
}  // namespace bcos::lab::cells
