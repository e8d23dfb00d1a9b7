#pragma once

#include <cstddef>
#include <string_view>

namespace bcos::lab::data {

/// How many bytes of `text`, from `at`, GPT-2 takes for the next word before it merges bytes: an
/// English ending ('s 't 're 've 'm 'll 'd); letters, numbers or other signs, each with a space
/// before them if there is one; or white space, of which the last one is left for the word that
/// follows. Expects UTF-8 and at < text.size().
std::size_t word_length(std::string_view text, std::size_t at);

}  // namespace bcos::lab::data
