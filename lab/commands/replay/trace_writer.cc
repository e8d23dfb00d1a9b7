#include "lab/commands/replay/trace_writer.hpp"

#include <cmath>

#include "engine/error.hpp"
#include "lab/trace/verdict.hpp"

namespace bcos::lab::commands {
namespace {

/// JSON in one line, with a space after every comma and colon.
void append(std::string& out, const trace::Json& value) {
  if (!value.is_structured()) {
    out += value.dump();
    return;
  }
  out += value.is_object() ? '{' : '[';
  bool first = true;
  for (const auto& [key, item] : value.items()) {
    if (!first) out += ", ";
    first = false;
    if (value.is_object()) out += trace::Json(key).dump() + ": ";
    append(out, item);
  }
  out += value.is_object() ? '}' : ']';
}

void append_lines(std::string& out, const trace::Json& list) {
  out += "[\n";
  for (std::size_t i = 0; i < list.size(); ++i) {
    append(out, list[i]);
    out += i + 1 < list.size() ? ",\n" : "\n";
  }
  out += ']';
}

void check_finite(const trace::TraceStep& step, std::size_t t, const std::string& name) {
  const std::pair<const char*, const trace::Numbers*> parts[] = {
      {"g", &step.g}, {"d", &step.d}, {"v", &step.v}, {"update", &step.update}, {"x", &step.x}};
  for (const auto& [part, values] : parts) {
    for (std::size_t i = 0; i < values->size(); ++i) {
      if (std::isfinite((*values)[i])) continue;
      throw fail(ErrorCode::non_finite, "replay",
                 "expected finite numbers, which JSON can hold, in case '{}' but received {} at "
                 "t = {}, {}[{}]",
                 name, (*values)[i], t, part, i);
    }
  }
}

}  // namespace

std::string trace_file_text(const trace::Json& file) {
  std::string out = "{\n";
  std::size_t left = file.size();
  for (const auto& [key, value] : file.items()) {
    out += trace::Json(key).dump() + ": ";
    if (key == "cases") {
      append_lines(out, value);
    } else {
      append(out, value);
    }
    out += --left > 0 ? ",\n" : "\n";
  }
  return out + "}\n";
}

trace::Json replayed(trace::Json file, const trace::ReplayOptions& options) {
  const std::vector<trace::TraceCase> cases = trace::read_cases(file);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string name = trace::case_name(cases[i], i);
    std::vector<trace::TraceStep> steps;
    try {
      steps = trace::replay(cases[i], options);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{} (case '{}')", error.what(), name));
    }
    for (std::size_t t = 0; t < steps.size(); ++t) check_finite(steps[t], t, name);
    file["cases"][i]["trace"] = trace::to_json(steps);
  }
  return file;
}

}  // namespace bcos::lab::commands
