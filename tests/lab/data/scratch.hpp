#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "bcos/error.hpp"

namespace bcos::lab::data {

/// A folder of its own for a test, removed at its end.
class Scratch {
 public:
  Scratch() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(::testing::TempDir()) /
            (std::string("bcos_data_") + test->test_suite_name() + "_" + test->name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name = {}) const {
    return name.empty() ? path_.string() : (path_ / name).string();
  }
  std::string write(const std::string& name, std::string_view bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

template <std::size_t n>
std::string_view bytes_of(const unsigned char (&array)[n]) {
  return {reinterpret_cast<const char*>(array), n};
}

/// Little-endian, as token files have it.
template <class Id>
std::string little_endian(const std::vector<Id>& ids) {
  std::string bytes;
  for (const Id id : ids) {
    for (std::size_t i = 0; i < sizeof(Id); ++i) bytes.push_back(static_cast<char>(id >> (8 * i)));
  }
  return bytes;
}

/// Expects an Error whose message holds all of the words.
template <class Call>
void expect_error(const Call& call, const std::vector<std::string>& words) {
  try {
    call();
    ADD_FAILURE() << "expected an Error";
  } catch (const Error& error) {
    const std::string message = error.what();
    for (const std::string& word : words) {
      EXPECT_NE(message.find(word), std::string::npos) << "no '" << word << "' in: " << message;
    }
  }
}

}  // namespace bcos::lab::data
