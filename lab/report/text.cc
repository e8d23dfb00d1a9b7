#include "lab/report/text.hpp"

#include <fmt/format.h>

#include "lab/cli/output.hpp"
#include "lab/cli/table.hpp"
#include "lab/report/words.hpp"
#include "lab/run/status.hpp"

namespace bcos::lab::report {

namespace {

/// A rate that was the only one is neither.
std::string_view mark_of(const Group& group) {
  if (group.edge) return "<";
  return group.best_lr && group.rates > 1 ? "*" : "";
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  const bool decay = comparison.decays_differ();
  std::vector<cli::Table::Column> columns = {{"method"}, {"lr", cli::Align::right}};
  if (decay) columns.push_back({"alpha x lambda", cli::Align::right});
  for (const char* title :
       {"seeds", "final val", "best val", "spikes", "ms/step", "optimizer", "state"}) {
    columns.push_back({title, cli::Align::right});
  }
  columns.push_back({""});
  cli::Table table(columns);
  std::string notes;
  const auto note = [&](bool needed, std::string_view text) {
    if (needed && notes.find(text) == std::string::npos) notes += fmt::format("{}\n", text);
  };
  for (const Group& group : comparison.groups) {
    note(group.best_lr && !group.edge && group.rates > 1, "* best learning rate of its method");
    note(group.edge, "< best of the rates that were tried, at their edge: --grow lr tries others");
    std::vector<std::string> row = {cli::visible(group.method), number_text(group.lr)};
    if (decay) row.push_back(number_text(group.decay_rate));
    for (std::string& cell : std::vector<std::string>{
             fmt::format("{}", group.counted), loss_text(group.final_loss),
             loss_text(group.best_loss), count_text(group.spikes), ms_text(group.ms),
             percent_text(group.optimizer_share), bytes_text(group.state_bytes),
             fmt::format("{}{}", mark_of(group), group.trouble)}) {
      row.push_back(std::move(cell));
    }
    table.add(std::move(row));
  }
  note(decay, "alpha x lambda, the rate at which weights decay, is not the same everywhere");
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    const RunSummary& run = comparison.runs[i];
    if (run.state.status == run::Status::damaged) {
      notes += fmt::format("{}, seed {}: {}\n", cli::visible(run.method), run.seed,
                           cli::visible(run::state_text(run.state)));
    }
  }
  return table.text() + notes;
}

}  // namespace bcos::lab::report
