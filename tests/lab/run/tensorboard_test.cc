#include "lab/run/tensorboard.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "tests/engine/safetensors/support.hpp"

namespace bcos::lab::run {
namespace {

using safetensors::contains;
using safetensors::error_of;
using safetensors::get;
using safetensors::system_calls;

std::string from_hex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

class AnEventFile : public ::testing::Test {
 protected:
  AnEventFile() : saved_(system_calls()) {}
  ~AnEventFile() override { system_calls() = saved_; }

  /// What is in a file after the two records that every file begins with.
  static std::string points_of(const std::string& path) {
    return get(path).substr(kVersionRecord + kStartRecord);
  }

  // Eight bytes of length, a checksum, nine bytes of time, the rest of the event, a checksum.
  static constexpr std::size_t kVersionRecord = 8 + 4 + 9 + 15 + 4;
  static constexpr std::size_t kStartRecord = 8 + 4 + 9 + 4 + 4;
  safetensors::TemporaryDirectory directory_;
  safetensors::SystemCalls saved_;
};

TEST_F(AnEventFile, BeginsWithItsVersionAndAStart) {
  const EventFile events(directory_.path());
  const std::string bytes = get(events.path());
  ASSERT_EQ(bytes.size(), kVersionRecord + kStartRecord);
  EXPECT_EQ(bytes.substr(0, 13), from_hex("1800000000000000a37f4b22"
                                          "09"));
  EXPECT_EQ(bytes.substr(21, 15), from_hex("1a0d") + "brain.Event:2");
  const std::string start = bytes.substr(kVersionRecord);
  EXPECT_EQ(start.substr(0, 13), from_hex("0d00000000000000"
                                          "3c37b834"
                                          "09"));
  EXPECT_EQ(start.substr(21, 4), from_hex("3a020801"));
}

TEST_F(AnEventFile, OfAResumedRunSaysItsFirstStep) {
  const EventFile events(directory_.path(), 300);
  const std::string start = get(events.path()).substr(kVersionRecord);
  EXPECT_EQ(start.substr(0, 8), from_hex("1000000000000000"));
  EXPECT_EQ(start.substr(21, 7), from_hex("10ac02"
                                          "3a020801"));
}

TEST_F(AnEventFile, HasTheseBytesForAScalar) {
  EventFile events(directory_.path());
  events.scalar(300, 1.5, "loss", 2.5);
  events.flush();
  EXPECT_EQ(points_of(events.path()), from_hex("1b00000000000000"
                                               "1a0d9e13"
                                               "09000000000000f83f"
                                               "10ac02"
                                               "2a0d"
                                               "0a0b"
                                               "0a046c6f7373"
                                               "1500002040"
                                               "68997c51"));
}

TEST_F(AnEventFile, LeavesOutStepZeroAsProtocolBuffersDo) {
  EventFile events(directory_.path());
  events.scalar(0, 1.5, "x", 0);
  events.flush();
  EXPECT_EQ(points_of(events.path()).substr(12, 21), from_hex("09000000000000f83f"
                                                              "2a0a"
                                                              "0a08"
                                                              "0a0178"
                                                              "1500000000"));
}

TEST_F(AnEventFile, IsNamedAfterTimeHostAndProcess) {
  const EventFile events(directory_.path());
  const std::string name = events.path().substr(directory_.path().size() + 1);
  EXPECT_TRUE(name.starts_with("events.out.tfevents.1") ||
              name.starts_with("events.out.tfevents.2"));
  EXPECT_TRUE(name.ends_with("." + std::to_string(::getpid()))) << name;
}

TEST_F(AnEventFile, ComesAfterTheOthersOfItsDirectoryByName) {
  std::string last;
  for (int i = 0; i < 5; ++i) {
    const EventFile events(directory_.path());
    EXPECT_LT(last, events.path());
    last = events.path();
  }
  safetensors::put(directory_.file("events.out.tfevents.9000000000.elsewhere.1"), "");
  EXPECT_LT(directory_.file("events.out.tfevents.9000000000.elsewhere.1"),
            EventFile(directory_.path()).path());
}

TEST_F(AnEventFile, IsWrittenNowAndThenAndWhenItEnds) {
  std::string path;
  {
    EventFile events(directory_.path());
    path = events.path();
    for (std::uint64_t step = 0; step < 2000; ++step) events.scalar(step, 1, "loss", 1);
    EXPECT_GT(get(path).size(), 60'000U);
    events.scalar(2000, 1, "the last", 1);
    EXPECT_FALSE(contains(get(path), "the last"));
  }
  EXPECT_TRUE(contains(get(path), "the last"));
}

TEST_F(AnEventFile, ThatMeetsAFullDiskSaysSoAndGoesOnWhereItStopped) {
  EventFile events(directory_.path());
  EventFile reference(directory_.path());
  for (EventFile* file : {&events, &reference}) {
    for (std::uint64_t step = 1; step < 5; ++step) file->scalar(step, 1, "loss", 1);
  }
  reference.flush();
  static int calls;
  calls = 0;
  system_calls().write = [](int fd, const void* data, std::size_t size) -> ssize_t {
    if (++calls == 1) return ::write(fd, data, size / 3);
    errno = ENOSPC;
    return -1;
  };
  const Error error = error_of([&] { events.flush(); });
  system_calls() = saved_;
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_TRUE(contains(error.what(), "[tensorboard] expected to write '" + events.path() + "'"));
  EXPECT_TRUE(contains(error.what(), std::strerror(ENOSPC)));
  EXPECT_TRUE(contains(error.what(), " bytes are needed"));
  events.flush();
  EXPECT_EQ(points_of(events.path()), points_of(reference.path()));
}

TEST_F(AnEventFile, NamesADirectoryThatIsMissing) {
  const std::string missing = directory_.file("none");
  const Error error = error_of([&] { EventFile events(missing); });
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_TRUE(contains(error.what(), "'" + missing)) << error.what();
  EXPECT_TRUE(contains(error.what(), std::strerror(ENOENT))) << error.what();
}

}  // namespace
}  // namespace bcos::lab::run
