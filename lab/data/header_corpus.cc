#include "lab/data/header_corpus.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "engine/error.hpp"
#include "lab/data/data_file.hpp"

namespace bcos::lab::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhere = "headers";
constexpr std::size_t kHeldOut = 10;

struct EndPipe {
  void operator()(std::FILE* pipe) const { pclose(pipe); }
};

std::string output_of(const std::string& command) {
  // The commands are ours alone: nothing of a user's reaches the shell.
  const std::unique_ptr<std::FILE, EndPipe> pipe(popen(command.c_str(), "r"));
  std::string text;
  if (!pipe) return text;
  std::array<char, 4096> chunk;
  while (const std::size_t count = std::fread(chunk.data(), 1, chunk.size(), pipe.get())) {
    text.append(chunk.data(), count);
  }
  return text;
}

bool holds_vector(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "vector", ignored);
}

/// The last in order of name, which is the newest of those with numbers of two digits.
std::string usual_folder() {
  std::string best;
  std::error_code error;
  for (fs::directory_iterator entry("/usr/include/c++", error), end; !error && entry != end;
       entry.increment(error)) {
    if (holds_vector(entry->path())) best = std::max(best, entry->path().string());
  }
  return best;
}

}  // namespace

std::string header_folder_in(std::string_view output) {
  const std::size_t list = output.find("#include <...> search starts here:");
  if (list == std::string_view::npos) return {};
  output.remove_prefix(list);
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    const std::string_view line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    if (line.starts_with("End of search list")) break;
    if (!line.starts_with(' ')) continue;
    const fs::path folder(line.substr(line.find_first_not_of(' ')));
    if (holds_vector(folder)) return folder.lexically_normal().string();
  }
  return {};
}

std::string header_folder() {
  for (const char* compiler : {"c++", "g++", "clang++", "clang++-19"}) {
    const std::string command =
        fmt::format("LC_ALL=C {} -E -x c++ -v /dev/null 2>&1 >/dev/null </dev/null", compiler);
    if (std::string folder = header_folder_in(output_of(command)); !folder.empty()) return folder;
  }
  if (std::string folder = usual_folder(); !folder.empty()) return folder;
  throw fail(ErrorCode::io, kWhere,
             "expected the C++ standard library's headers, the default text, but received none; "
             "install a compiler (apt install g++) or name a text file");
}

HeaderCorpus read_headers(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    if (entry->is_regular_file(error)) paths.push_back(entry->path().string());
  }
  if (error) {
    throw fail(ErrorCode::io, kWhere, "expected to list '{}' but received '{}'", folder,
               error.message());
  }
  std::sort(paths.begin(), paths.end());
  if (paths.size() < kHeldOut) {
    throw fail(ErrorCode::io, kWhere, "expected at least {} files below '{}' but received {}",
               kHeldOut, folder, paths.size());
  }
  HeaderCorpus corpus{folder, {}, {}, paths.size()};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const DataFile file(paths[i]);
    (i % kHeldOut == kHeldOut - 1 ? corpus.val : corpus.train) += file.text(kLargestWhole);
  }
  return corpus;
}

}  // namespace bcos::lab::data
