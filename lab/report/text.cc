#include "lab/report/text.hpp"

#include <fmt/format.h>

#include "lab/cli/output.hpp"
#include "lab/cli/table.hpp"
#include "lab/report/words.hpp"

namespace bcos::lab::report {

std::string comparison_text(const Comparison& comparison) {
  cli::Table table({{"method"},
                    {"lr", cli::Align::right},
                    {"seeds", cli::Align::right},
                    {"final val", cli::Align::right},
                    {"best val", cli::Align::right},
                    {"spikes", cli::Align::right},
                    {"ms/step", cli::Align::right},
                    {"optimizer", cli::Align::right},
                    {"state", cli::Align::right},
                    {""}});
  bool marked = false;
  for (const Group& group : comparison.groups) {
    marked = marked || group.best_lr;
    table.add({cli::visible(group.method), number_text(group.lr),
               fmt::format("{}", group.runs.size()), loss_text(group.final_loss),
               loss_text(group.best_loss), count_text(group.spikes), ms_text(group.ms),
               percent_text(group.optimizer_share), bytes_text(group.state_bytes),
               group.best_lr ? "*" : ""});
  }
  return table.text() + (marked ? "* best learning rate of its method\n" : "");
}

}  // namespace bcos::lab::report
