#include <glob.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/error.hpp"
#include "lab/data/token_files.hpp"

namespace bcos::lab::data {
namespace {

constexpr std::string_view kWhere = "tokens";

std::uint32_t word(std::string_view bytes, std::size_t index) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[4 * index + i]);
  }
  return value;
}

TokenLayout raw_layout(const DataFile& file) {
  if (file.size() % 2 != 0) {
    throw fail(ErrorCode::corrupt, kWhere,
               "expected an even number of bytes in '{}' (uint16 ids) but received {}", file.path(),
               file.size());
  }
  return {TokenFormat::raw, 0, 2, file.size() / 2};
}

}  // namespace

std::string_view name_of(TokenFormat format) {
  switch (format) {
    case TokenFormat::gpt2:
      return "llm.c tokens";
    case TokenFormat::llama3:
      return "llm.c tokens (Llama 3)";
    default:
      return "nanoGPT tokens";
  }
}

std::uint64_t usual_vocabulary(TokenFormat format) {
  return format == TokenFormat::llama3 ? 128256 : 50257;
}

bool has_token_mark(std::string_view beginning) {
  if (beginning.size() < 4) return false;
  const std::uint32_t magic = word(beginning, 0);
  return magic == kGpt2Mark.magic || magic == kLlama3Mark.magic || magic == kEvalMark.magic;
}

TokenLayout token_layout(const DataFile& file) {
  const std::string header = file.beginning(kTokenHeaderBytes);
  if (!has_token_mark(header)) return raw_layout(file);
  const std::uint32_t magic = word(header, 0);
  if (magic == kEvalMark.magic) {
    throw fail(ErrorCode::corrupt, kWhere,
               "expected training tokens in '{}' but received llm.c's evaluation format ({})",
               file.path(), magic);
  }
  if (header.size() < kTokenHeaderBytes) {
    throw fail(ErrorCode::corrupt, kWhere, "expected a header of {} bytes in '{}' but received {}",
               kTokenHeaderBytes, file.path(), header.size());
  }
  const bool llama3 = magic == kLlama3Mark.magic;
  const TokenMark mark = llama3 ? kLlama3Mark : kGpt2Mark;
  if (word(header, 1) != mark.version) {
    throw fail(ErrorCode::corrupt, kWhere,
               "expected version {} after the mark {} in '{}' but received {}", mark.version,
               mark.magic, file.path(), word(header, 1));
  }
  const std::uint64_t count = word(header, 2);
  const std::uint64_t id_bytes = llama3 ? 4 : 2;
  const std::uint64_t expected = kTokenHeaderBytes + count * id_bytes;
  if (count > kMostTokensAFile || file.size() != expected) {
    throw fail(ErrorCode::corrupt, kWhere,
               "expected {} bytes in '{}', whose header says {} tokens, but received {}", expected,
               file.path(), count, file.size());
  }
  return {llama3 ? TokenFormat::llama3 : TokenFormat::gpt2, kTokenHeaderBytes, id_bytes, count};
}

std::vector<std::string> matching_files(const std::string& pattern) {
  if (pattern.find_first_of("*?[") == std::string::npos) return {pattern};
  glob_t found{};
  const int code = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  if (code != 0 || paths.empty()) {
    throw fail(ErrorCode::io, kWhere, "expected files that match '{}' but received {}", pattern,
               code == GLOB_NOMATCH ? "none" : "an error of the file system");
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace bcos::lab::data
