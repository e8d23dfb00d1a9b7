#include <algorithm>
#include <memory>

#include "lab/cli/output.hpp"
#include "lab/cli/progress.hpp"
#include "lab/run/observers.hpp"

/// What a person sees of a run.
namespace bcos::lab::run {
namespace {

constexpr std::uint64_t kStepsToEstimate = 10;
constexpr std::uint64_t kLinesARun = 8;

std::string facts_text(const RunFacts& f) {
  std::string text;
  text += fmt::format("run     {}\n", f.directory);
  text += fmt::format("device  {}, {} thread{}, kernels {}\n", f.device, f.threads,
                      f.threads == 1 ? "" : "s", f.target);
  text += fmt::format("data    {}\n", cli::visible(f.data));
  text += fmt::format("model   {}: {} parameters in {} tensors, {} of them decay\n", f.model,
                      f.parameters, f.tensors, f.decayed_tensors);
  text += fmt::format("method  {} at lr {:g}: {} of state; AdamW keeps {}\n", f.method, f.lr,
                      cli::human_bytes(f.state_bytes), cli::human_bytes(f.adamw_state_bytes));
  text +=
      fmt::format("batch   {} {}s a step: {} part{} of {}\n", f.units_a_step, f.unit,
                  f.accumulation, f.accumulation == 1 ? "" : "s", f.units_a_step / f.accumulation);
  text += fmt::format("steps   {}{}\n", f.steps,
                      f.first_step > 0 ? fmt::format(", {} of them done", f.first_step) : "");
  return text;
}

std::string eval_text(const EvalEvent& event) {
  std::string text = fmt::format("val loss {:.4f}", event.loss);
  if (event.accuracy) text += fmt::format(" | accuracy {:.2f} %", 100 * *event.accuracy);
  return text;
}

/// llm.c's line.
std::string step_line(const StepEvent& event, const RunFacts& facts) {
  const std::string norm = event.norm ? fmt::format("{:.4f}", *event.norm) : "-";
  return fmt::format(
      "step {:5}/{} | loss {:.6f} | norm {} | lr {:.2e} | {:.2f} ms | opt {:.1f} % | "
      "{:.0f} {}/s{}",
      event.step + 1, facts.steps, event.loss, norm, event.lr, event.ms,
      100 * event.optimizer_ms / event.ms, event.rate, facts.unit == "token" ? "tok" : "img",
      event.bad ? " | bad, skipped" : "");
}

class LinesObserver : public Observer {
 public:
  explicit LinesObserver(std::uint64_t log_every) : log_every_(log_every) {}

  void begin(const RunFacts& facts) override {
    facts_ = facts;
    cli::print("{}", facts_text(facts));
    cli::flush_out();
  }
  void step(const StepEvent& event) override {
    spent_ms_ += event.ms;
    ++seen_;
    const bool last = event.step + 1 == facts_.steps;
    if (event.bad || last || event.step % log_every_ == 0)
      cli::print("{}\n", step_line(event, facts_));
    if (seen_ == kStepsToEstimate && !last) {
      const auto left = static_cast<double>(facts_.steps - event.step - 1);
      cli::print("about {} to go\n", cli::human_time(1e-3 * left * spent_ms_ / kStepsToEstimate));
    }
    cli::flush_out();
  }
  void evaluation(const EvalEvent& event) override {
    cli::print("step {:5}/{} | {}{}\n", event.step, facts_.steps, eval_text(event),
               event.best ? " | best" : "");
    cli::flush_out();
  }

 private:
  std::uint64_t log_every_;
  RunFacts facts_;
  double spent_ms_ = 0;
  std::uint64_t seen_ = 0;
};

class BarObserver : public Observer {
 public:
  void begin(const RunFacts& facts) override {
    facts_ = facts;
    cli::print("{}", facts_text(facts));
    cli::flush_out();
    bar_ = std::make_unique<cli::Progress>(facts.steps);
  }
  void step(const StepEvent& event) override {
    const double weight = std::max(0.02, 1.0 / static_cast<double>(++seen_));
    smooth_ += event.bad ? 0 : weight * (event.loss - smooth_);
    std::string text =
        fmt::format("loss {:.3f}  lr {:.1e}  {} {}/s", smooth_, event.lr,
                    cli::human_count(event.rate), facts_.unit == "token" ? "tok" : "img");
    if (!val_.empty()) text += "  " + val_;
    if (event.bad_steps > 0) text += fmt::format("  {} bad", event.bad_steps);
    bar_->update(event.step + 1, text);
  }
  void evaluation(const EvalEvent& event) override {
    val_ = fmt::format("val {:.3f}", event.loss);
    if (event.step < next_line_ && event.step != facts_.steps) return;
    next_line_ = event.step + std::max<std::uint64_t>(1, facts_.steps / kLinesARun);
    bar_->line(
        fmt::format("step {:5}  {}{}", event.step, eval_text(event), event.best ? "  best" : ""));
  }
  void end(Outcome /*outcome*/, std::uint64_t /*steps*/) override { bar_->finish(); }

 private:
  RunFacts facts_;
  std::unique_ptr<cli::Progress> bar_;
  double smooth_ = 0;
  std::uint64_t seen_ = 0;
  std::string val_;
  std::uint64_t next_line_ = 0;  ///< evaluations before this step only change the bar
};

}  // namespace

std::unique_ptr<Observer> console_observer(Voice voice, std::uint64_t log_every) {
  if (voice == Voice::bar) return std::make_unique<BarObserver>();
  if (voice == Voice::lines) return std::make_unique<LinesObserver>(log_every);
  return std::make_unique<Observer>();
}

}  // namespace bcos::lab::run
