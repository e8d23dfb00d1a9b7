#include <gtest/gtest.h>

#include <fstream>

#include "lab/trace/compare.hpp"
#include "lab/trace/trace.hpp"

namespace bcos::lab {
namespace {

struct Setting {
  Target target;
  DType dtype;
};

class GoldenTraces : public testing::TestWithParam<Setting> {};

TEST_P(GoldenTraces, AreReproduced) {
  const trace::Json file = trace::Json::parse(std::ifstream(BCOS_GOLDEN_FILE));
  const std::vector<trace::TraceCase> cases = trace::read_cases(file);
  ASSERT_EQ(cases.size(), 250U);
  const auto [target, dtype] = GetParam();
  std::size_t compared = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!trace::fits(cases[i], dtype)) continue;
    const auto received = trace::replay(cases[i], {.dtype = dtype, .target = target});
    const auto expected = trace::steps_from_json(file["cases"][i]["trace"]);
    const trace::TraceMiss miss = trace::compare(cases[i], expected, received, dtype);
    EXPECT_LE(miss.worst, 1.0) << cases[i].name << " at " << miss.where;
    ++compared;
  }
  EXPECT_EQ(compared, dtype == DType::f64 ? 250U : 244U);
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const Target target : available_targets()) {
    all.push_back({target, DType::f64});
    all.push_back({target, DType::f32});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, GoldenTraces, testing::ValuesIn(settings()),
                         [](const auto& instance) {
                           return std::string(name(instance.param.target)) + "_" +
                                  std::string(name(instance.param.dtype));
                         });

}  // namespace
}  // namespace bcos::lab
