#include "bcos/memory.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "bcos/optimizer.hpp"
#include "tests/huge_pages.hpp"

namespace bcos::testing {
namespace {

class HugePages : public ::testing::Test {
 protected:
  static constexpr std::size_t kBytes = 6 * kHugePage;

  void SetUp() override {
    if (!huge_pages_show()) GTEST_SKIP() << "this system has no huge pages, or does not list them";
    mapping_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapping_, MAP_FAILED);
    madvise(mapping_, kBytes, MADV_NOHUGEPAGE);
    const auto begin = reinterpret_cast<std::uintptr_t>(mapping_);
    first_huge_ = (begin + kHugePage - 1) / kHugePage * kHugePage;
  }
  void TearDown() override {
    if (mapping_ != nullptr) munmap(mapping_, kBytes);
  }

  std::size_t marked() const { return marked_huge(mapping_, kBytes); }
  void* huge_page_plus(std::size_t bytes) const {
    return reinterpret_cast<void*>(first_huge_ + bytes);
  }

  void* mapping_ = nullptr;
  std::uintptr_t first_huge_ = 0;
};

TEST_F(HugePages, AreAskedForWhereTheyLieInTheMemoryAsAWhole) {
  prefer_huge_pages(huge_page_plus(64), 3 * kHugePage);
  EXPECT_EQ(marked(), 2 * kHugePage);
}

TEST_F(HugePages, AreNotAskedForWhereNoneFits) {
  prefer_huge_pages(huge_page_plus(64), kHugePage);
  prefer_huge_pages(huge_page_plus(0), 0);
  prefer_huge_pages(nullptr, 0);
  EXPECT_EQ(marked(), 0U);
}

TEST_F(HugePages, HoldLargeStates) {
  std::vector<float> x(4 * kHugePage / sizeof(float));
  Optimizer optimizer(bcosw_c);
  const ParameterId id = optimizer.add("x", x);
  EXPECT_GE(marked_huge(optimizer.state(id).m.data, 4 * kHugePage), 3 * kHugePage);
}

}  // namespace
}  // namespace bcos::testing
