#pragma once

#include <nlohmann/json.hpp>

#include "engine/error.hpp"

namespace bcos {

/// Showing and writing JSON recurses once a level, so a hostile text must not decide how deep.
inline constexpr int kDeepestJson = 64;

/// To be called from a parser's callback.
inline void check_json_depth(int depth, std::string_view function, std::string_view what) {
  if (depth > kDeepestJson) {
    throw fail(ErrorCode::corrupt, function, "expected at most {} levels of JSON in {}",
               kDeepestJson, what);
  }
}

/// Parses a text that nobody vouches for. Throws nlohmann's exceptions, and Error if it is too
/// deep.
inline nlohmann::json parse_untrusted(std::string_view text, std::string_view function,
                                      std::string_view what) {
  return nlohmann::json::parse(text,
                               [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
                                 check_json_depth(depth, function, what);
                                 return true;
                               });
}

}  // namespace bcos
