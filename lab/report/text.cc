#include "lab/report/text.hpp"

#include <fmt/format.h>

#include "lab/cli/output.hpp"
#include "lab/cli/table.hpp"
#include "lab/report/words.hpp"

namespace bcos::lab {

std::string comparison_text(const Comparison& comparison) {
  Table table({{"method"},
               {"lr", Align::right},
               {"seeds", Align::right},
               {"final val", Align::right},
               {"best val", Align::right},
               {"spikes", Align::right},
               {"ms/step", Align::right},
               {"optimizer", Align::right},
               {"state", Align::right},
               {""}});
  bool marked = false;
  for (const Group& group : comparison.groups) {
    marked = marked || group.best_lr;
    table.add({visible(group.method), number_text(group.lr), fmt::format("{}", group.runs.size()),
               loss_text(group.final_loss), loss_text(group.best_loss), count_text(group.spikes),
               ms_text(group.ms), percent_text(group.optimizer_share),
               bytes_text(group.state_bytes), group.best_lr ? "*" : ""});
  }
  return table.text() + (marked ? "* best learning rate of its method\n" : "");
}

}  // namespace bcos::lab
