#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/error.hpp"

namespace bcos {

/// Showing and writing JSON recurses once a level, so a hostile text must not decide how deep.
inline constexpr int kDeepestJson = 64;

/// Parses a text that nobody vouches for: of bounded depth, and no key twice in an object, for then
/// readers would disagree on what it says. `where`: " in 'file'" for messages, or nothing. Throws
/// nlohmann's exceptions, and Error.
template <class Json = nlohmann::json>
Json parse_strict(std::string_view text, std::string_view function, std::string_view where,
                  ErrorCode code = ErrorCode::corrupt) {
  std::vector<std::set<std::string>> open;  // the keys so far of every object we are inside of
  using Event = typename Json::parse_event_t;
  return Json::parse(text, [&](int depth, Event event, Json& parsed) {
    if (depth > kDeepestJson) {
      throw fail(code, function, "expected at most {} levels of JSON{}", kDeepestJson, where);
    }
    if (event == Event::object_start) open.emplace_back();
    if (event == Event::object_end) open.pop_back();
    if (event == Event::key &&
        !open.back().insert(parsed.template get_ref<const std::string&>()).second) {
      throw fail(code, function, "expected every key once{} but received {} twice", where,
                 parsed.dump(-1, ' ', true, Json::error_handler_t::replace));
    }
    return true;
  });
}

}  // namespace bcos
