#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace bcos {

/// A word in lower case, with underscores for hyphens and spaces: "BCOSW-c" is "bcosw_c".
std::string spelling(std::string_view word);

/// The known word whose spelling takes the fewest edits, of which there may be one per
/// `letters_per_edit` letters. Empty if there is none, or if several take as few.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known,
                         std::size_t letters_per_edit);

/// "; did you mean 'x'?", for the end of an error; nothing for an empty word.
std::string did_you_mean(std::string_view word);

/// The same for the nearest known word, with an edit per three letters.
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace bcos
