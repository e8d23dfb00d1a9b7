#include <gtest/gtest.h>

#include "lab/run/observers.hpp"

namespace bcos::lab::run {
namespace {

struct Saved : Saver {
  std::vector<std::string> calls;
  void save(bool best) override { calls.emplace_back(best ? "best" : "save"); }
  void mark_best() override { calls.emplace_back("mark"); }
};

using Calls = std::vector<std::string>;

class ACheckpointObserver : public ::testing::Test {
 protected:
  void begin_at(std::uint64_t step) {
    RunFacts facts;
    facts.first_step = step;
    observer_->begin(facts);
  }
  /// What is asked for at a boundary, after an evaluation if there is one.
  Calls at(std::uint64_t steps, bool last = false, std::optional<double> loss = {}) {
    if (loss) observer_->evaluation({steps, *loss, {}, false});
    saver_.calls.clear();
    observer_->boundary(steps, last, saver_);
    return saver_.calls;
  }

  std::unique_ptr<Observer> observer_ = checkpoint_observer(10);
  Saved saver_;
};

TEST_F(ACheckpointObserver, SavesEverySoManyStepsAndTheLastHoweverGoodOthersAre) {
  begin_at(0);
  EXPECT_EQ(at(0, false, 5), Calls{});
  EXPECT_EQ(at(5), Calls{});
  EXPECT_EQ(at(7, false, 1), Calls{});
  EXPECT_EQ(at(10, false, 3), Calls{"best"});
  EXPECT_EQ(at(20, false, 4), Calls{"save"});
  EXPECT_EQ(at(30), Calls{"save"}) << "not evaluated";
  EXPECT_EQ(at(40, false, 2), Calls{"best"});
  EXPECT_EQ(at(43, true), Calls{"save"});
}

TEST_F(ACheckpointObserver, MarksWhatAStoppedRunHadSaved) {
  begin_at(10);
  EXPECT_EQ(at(10, false, 3), Calls{"mark"});
  EXPECT_EQ(at(20, false, 2), Calls{"best"});
}

TEST_F(ACheckpointObserver, KnowsTheBestOfThePartsBefore) {
  observer_ = checkpoint_observer(10, 2.5);
  begin_at(10);
  EXPECT_EQ(at(20, false, 3), Calls{"save"});
  EXPECT_EQ(at(30, false, 2), Calls{"best"});
}

TEST_F(ACheckpointObserver, SavesNothingTwice) {
  begin_at(10);
  EXPECT_EQ(at(10), Calls{});
  EXPECT_EQ(at(10, true), Calls{});
}

}  // namespace
}  // namespace bcos::lab::run
