#include <gtest/gtest.h>

#include "lab/training/observers.hpp"

namespace bcos::lab {
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
  Calls at(std::uint64_t steps, bool last = false, std::optional<bool> best = {}) {
    if (best) observer_->evaluation({steps, 1.0, {}, *best});
    saver_.calls.clear();
    observer_->boundary(steps, last, saver_);
    return saver_.calls;
  }

  std::unique_ptr<Observer> observer_ = checkpoint_observer(10);
  Saved saver_;
};

TEST_F(ACheckpointObserver, SavesEverySoManyStepsTheBestAndTheLast) {
  begin_at(0);
  EXPECT_EQ(at(0, false, true), Calls{});
  EXPECT_EQ(at(5), Calls{});
  EXPECT_EQ(at(7, false, true), Calls{"best"});
  EXPECT_EQ(at(8, false, false), Calls{});
  EXPECT_EQ(at(10, false, false), Calls{"save"});
  EXPECT_EQ(at(13, true), Calls{"save"});
}

TEST_F(ACheckpointObserver, MarksWhatAStoppedRunHadSaved) {
  begin_at(10);
  EXPECT_EQ(at(10, false, true), Calls{"mark"});
  EXPECT_EQ(at(20, false, true), Calls{"best"});
}

TEST_F(ACheckpointObserver, SavesNothingTwice) {
  begin_at(10);
  EXPECT_EQ(at(10, false, false), Calls{});
  EXPECT_EQ(at(10, true), Calls{});
}

}  // namespace
}  // namespace bcos::lab
