#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lab/data/tokens.hpp"

namespace bcos::lab::data {

/// The header that llm.c's token files begin with: 256 little-endian int32 words.
inline constexpr std::uint64_t kTokenHeaderBytes = 1024;
inline constexpr std::uint64_t kMostTokensAFile = (std::uint64_t{1} << 31) - 1;

/// Magic and version of a kind of llm.c file.
struct TokenMark {
  std::uint32_t magic;
  std::uint32_t version;
};
inline constexpr TokenMark kGpt2Mark = {20240520, 1};    ///< uint16 ids
inline constexpr TokenMark kLlama3Mark = {20240801, 7};  ///< uint32 ids
inline constexpr TokenMark kEvalMark = {20240522, 1};    ///< questions with answers: not read

enum class TokenFormat { raw, gpt2, llama3 };

/// How the ids lie in a file.
struct TokenLayout {
  TokenFormat format = TokenFormat::raw;
  std::uint64_t offset = 0;    ///< of the first id
  std::uint64_t id_bytes = 2;  ///< 2 or 4
  std::uint64_t count = 0;
};

std::string_view name_of(TokenFormat format);
/// How many ids the tokenizer of such files has; raw files are taken for GPT-2's.
std::uint64_t usual_vocabulary(TokenFormat format);

/// Whether the first bytes are those of a token file of llm.c, right or wrong in the rest.
bool has_token_mark(std::string_view beginning);

/// From header and size alone; a file without a mark is nanoGPT's raw uint16. Throws
/// Error(corrupt).
TokenLayout token_layout(const DataFile& file);

/// The files that a pattern with *, ? or [...] finds, in order of name (bytes); a path without
/// those is itself. Throws Error(io) if there are none.
std::vector<std::string> matching_files(const std::string& pattern);

struct OpenedTokens {
  std::unique_ptr<Tokens> tokens;
  TokenFormat format = TokenFormat::raw;
  std::vector<FileFact> files;
};

/// Files of one format as one list. Everything is read once: ids at or above `vocabulary` are
/// refused with their place (0: the usual vocabulary of the format).
OpenedTokens open_tokens(const std::vector<std::string>& paths, std::uint64_t vocabulary);

}  // namespace bcos::lab::data
