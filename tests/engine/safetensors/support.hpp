#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "bcos/error.hpp"
#include "bcos/safetensors.hpp"
#include "engine/safetensors/checksums.hpp"

namespace bcos::safetensors {

/// A directory of its own for every test, gone with it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "bcos-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string path() const { return path_.string(); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_),
                                                  std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

inline void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

inline std::string get(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The bytes of a file with this header and so many bytes of data.
inline std::string file_bytes(const std::string& header, std::size_t data_bytes = 0) {
  return length_bytes(header.size()) + header + std::string(data_bytes, 'd');
}

template <class T>
std::span<const std::byte> bytes_of_vector(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

inline std::vector<std::byte> read_all(const File& file, const TensorInfo& tensor) {
  std::vector<std::byte> out(tensor.end - tensor.begin);
  file.read(tensor, out);
  return out;
}

/// Runs `action` and gives the Error it throws; any other outcome fails the test.
template <class Action>
Error error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& other) {
    ADD_FAILURE() << "expected bcos::Error but received " << other.what();
    return {ErrorCode::internal, "another exception"};
  }
  ADD_FAILURE() << "expected bcos::Error but nothing was thrown";
  return {ErrorCode::internal, "nothing was thrown"};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace bcos::safetensors
