#include "lab/report/page_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/cli/html.hpp"
#include "lab/report/words.hpp"
#include "lab/run/status.hpp"

namespace bcos::lab::report {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Cell {
  std::string text;
  bool number = true;
};

std::string row(const char* tag, const std::vector<Cell>& cells, const char* kind = "") {
  std::string out = fmt::format("<tr{}>", kind);
  for (const Cell& cell : cells) {
    out += fmt::format("<{}{}>{}</{}>", tag, cell.number ? " class=\"number\"" : "",
                       cli::html_text(cell.text), tag);
  }
  return out + "</tr>\n";
}

std::string table(const std::string& title, const std::string& head, const std::string& body,
                  const char* kind = "") {
  return fmt::format(
      "<section class=\"card\"><h2>{}</h2><div class=\"scroll\"><table{}>\n<thead>{}</thead>\n"
      "<tbody>\n{}</tbody></table></div></section>\n",
      cli::html_text(title), kind, head, body);
}

std::string tile(const char* label, const std::string& value, const std::string& more = "") {
  return fmt::format(
      "<div class=\"tile\"><div class=\"label\">{}</div><div class=\"value\">{}</div>"
      "<div class=\"more\">{}</div></div>\n",
      cli::html_text(label), cli::html_text(value), cli::html_text(more));
}

bool any_accuracy(const std::vector<RunSummary>& runs) {
  return std::ranges::any_of(
      runs, [](const RunSummary& run) { return std::isfinite(run.final_accuracy); });
}

std::string fact_text(const std::string& key, const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() && key.ends_with("bytes")) {
    const auto bytes = value.get<double>();
    return fmt::format("{} ({} bytes)", bytes_text(bytes), count_text(bytes));
  }
  if (value.is_number() && (key == "started" || key == "ended")) {
    return moment_text(value.get<double>());
  }
  if (value.is_number_integer() && key != "seed") return count_text(value.get<double>());
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Pairs facts_of(const run::RunRecord& run) {
  Pairs facts;
  for (const auto& [key, value] : run.facts.items()) {
    if (!value.is_null() && !value.is_structured()) facts.emplace_back(key, fact_text(key, value));
  }
  return facts;
}

const std::string* value_of(const Pairs& pairs, const std::string& key) {
  const auto found =
      std::ranges::find_if(pairs, [&](const auto& pair) { return pair.first == key; });
  return found == pairs.end() ? nullptr : &found->second;
}

std::string words_of_key(std::string key) {
  std::ranges::replace(key, '_', ' ');
  return key;
}

std::string two_columns(const std::string& title, const Pairs& pairs, bool plain_keys) {
  if (pairs.empty()) return {};
  std::string body;
  for (const auto& [key, value] : pairs) {
    body +=
        fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n",
                    cli::html_text(plain_keys ? key : words_of_key(key)), cli::html_text(value));
  }
  return table(title, "", body, " class=\"pairs\"");
}

std::string tables_of(const std::string& title, std::span<const run::RunRecord> runs,
                      const std::vector<Pairs>& all, bool plain_keys) {
  if (all.size() == 1) return two_columns(title, all.front(), plain_keys);
  std::vector<std::string> keys;
  for (const Pairs& pairs : all) {
    for (const auto& pair : pairs) {
      if (std::ranges::find(keys, pair.first) == keys.end()) keys.push_back(pair.first);
    }
  }
  Pairs common;
  std::vector<std::string> different;
  for (const std::string& key : keys) {
    const std::string* first = value_of(all.front(), key);
    const bool same = first != nullptr && std::ranges::all_of(all, [&](const Pairs& pairs) {
                        const std::string* other = value_of(pairs, key);
                        return other != nullptr && *other == *first;
                      });
    if (same) {
      common.emplace_back(key, *first);
    } else if (key != "name") {
      different.push_back(key);
    }
  }
  std::string out = two_columns(title + " of all runs", common, plain_keys);
  if (different.empty()) return out;

  std::vector<Cell> head = {{"run", false}};
  for (const std::string& key : different) {
    head.push_back({plain_keys ? key : words_of_key(key), false});
  }
  std::string body;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<Cell> cells = {{runs[i].name, false}};
    for (const std::string& key : different) {
      const std::string* value = value_of(all[i], key);
      cells.push_back({value == nullptr ? "–" : *value, false});
    }
    body += row("td", cells);
  }
  return out + table(title + " that differ", row("th", head), body);
}

}  // namespace

std::string run_tiles(const RunSummary& run) {
  const auto step = [](std::int64_t number) {
    return "at step " + count_text(static_cast<double>(number));
  };
  std::string out;
  const bool evaluated = std::isfinite(run.best_loss);
  out += tile("final validation loss", loss_text(run.final_loss),
              evaluated ? step(run.final_step) : "not recorded");
  out += tile("best validation loss", loss_text(run.best_loss),
              evaluated ? step(run.best_step) : "not recorded");
  if (std::isfinite(run.final_accuracy)) {
    out += tile("final accuracy", percent_text(run.final_accuracy), "of the validation data");
  }
  out += tile("final training loss", loss_text(run.final_train_loss), "smoothed over 20 steps");
  out += tile("loss spikes", count_text(static_cast<double>(run.spikes)),
              fmt::format("in {} steps", count_text(static_cast<double>(run.steps))));
  out += tile("time of a step", ms_text(run.ms) + " ms",
              fmt::format("optimizer {}", percent_text(run.optimizer_share)));
  out += tile("optimizer state", bytes_text(run.state_bytes),
              std::isfinite(run.adamw_state_bytes)
                  ? fmt::format("AdamW: {}", bytes_text(run.adamw_state_bytes))
                  : "");
  return "<section class=\"tiles\">\n" + out + "</section>\n";
}

std::string group_table(const Comparison& comparison) {
  const bool accuracy = any_accuracy(comparison.runs);
  const bool decay = comparison.decays_differ();
  const bool trouble = std::ranges::any_of(
      comparison.groups, [](const Group& group) { return !group.trouble.empty(); });
  std::vector<Cell> head = {{"method", false}, {"learning rate"}};
  if (decay) head.push_back({"alpha x lambda"});
  for (const char* title : {"runs", "final validation loss", "best validation loss"}) {
    head.push_back({title});
  }
  if (accuracy) head.push_back({"final accuracy"});
  for (const char* title : {"spikes", "ms a step", "optimizer", "state"}) head.push_back({title});
  if (trouble) head.push_back({"not counted", false});

  std::string body;
  for (const Group& group : comparison.groups) {
    std::vector<Cell> cells = {{group.method, false}, {number_text(group.lr)}};
    if (decay) cells.push_back({number_text(group.decay_rate)});
    cells.push_back({fmt::format("{}", group.counted)});
    cells.push_back({loss_text(group.final_loss)});
    cells.push_back({loss_text(group.best_loss)});
    if (accuracy) cells.push_back({percent_text(group.final_accuracy)});
    cells.push_back({count_text(group.spikes)});
    cells.push_back({ms_text(group.ms)});
    cells.push_back({percent_text(group.optimizer_share)});
    cells.push_back({bytes_text(group.state_bytes)});
    if (trouble) cells.push_back({group.trouble, false});
    const char* kind = group.edge                         ? " class=\"best edge\""
                       : group.best_lr && group.rates > 1 ? " class=\"best\""
                                                          : "";
    body += row("td", cells, kind);
  }
  return table("Methods and learning rates", row("th", head), body);
}

std::string runs_table(std::span<const run::RunRecord> runs, const Comparison& comparison) {
  const bool accuracy = any_accuracy(comparison.runs);
  std::vector<Cell> head = {{"run", false}, {"method", false}, {"learning rate"},
                            {"seed"},       {"steps"},         {"final validation loss"},
                            {"best"},       {"at step"}};
  if (accuracy) head.push_back({"accuracy"});
  for (const char* title : {"spikes", "skipped", "ms a step"}) head.push_back({title});
  head.push_back({"state", false});

  std::string body;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunSummary& run = comparison.runs[i];
    const auto count = [](std::int64_t number) {
      return Cell{count_text(static_cast<double>(number))};
    };
    std::vector<Cell> cells = {{runs[i].name, false},
                               {run.method, false},
                               {number_text(run.lr)},
                               {run.seed},
                               count(run.steps),
                               {loss_text(run.final_loss)},
                               {loss_text(run.best_loss)},
                               std::isfinite(run.best_loss) ? count(run.best_step) : Cell{"–"}};
    if (accuracy) cells.push_back({percent_text(run.final_accuracy)});
    cells.push_back(count(run.spikes));
    cells.push_back(count(run.skipped));
    cells.push_back({ms_text(run.ms)});
    const bool finished = run.state.status == run::Status::finished;
    cells.push_back(
        {run::state_text(run.state) + (finished && !run.counts ? ", not counted" : ""), false});
    body += row("td", cells);
  }
  return table("Runs", row("th", head), body);
}

std::string settings_tables(std::span<const run::RunRecord> runs) {
  std::vector<Pairs> all;
  all.reserve(runs.size());
  for (const run::RunRecord& run : runs) all.push_back(run.settings);
  return tables_of("Settings", runs, all, true);
}

std::string facts_tables(std::span<const run::RunRecord> runs) {
  std::vector<Pairs> all;
  all.reserve(runs.size());
  for (const run::RunRecord& run : runs) all.push_back(facts_of(run));
  return tables_of("Facts", runs, all, false);
}

}  // namespace bcos::lab::report
