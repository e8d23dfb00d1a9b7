#include "lab/bench/goals.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>

#include "bcos/methods.hpp"
#include "engine/error.hpp"
#include "lab/bench/runners.hpp"
#include "lab/bench/sampler.hpp"

namespace bcos::lab::bench {
namespace {

using Shapes = std::vector<std::vector<std::int64_t>>;

constexpr std::int64_t kMemoryBound = 10'000'000;

std::uint64_t fresh_seed() {
  return static_cast<std::uint64_t>(getpid()) * 2'654'435'761U +
         static_cast<std::uint64_t>(std::time(nullptr));
}

Figure figure_of(const Quartiles& ratio, const Quartiles& base) {
  return {ratio.median, base.high / base.low};
}

Figure ratio_of(const std::function<void()>& base, const std::function<void()>& candidate,
                int pairs) {
  const PairedTimes times = measure_pairs(base, candidate, pairs);
  return figure_of(times.ratio, times.base_seconds);
}

Figure against_limit(const Method& method, std::int64_t n, int threads, int pairs) {
  StepRunner step(method, DType::f32, Shapes{{n}}, {.threads = threads, .seed = fresh_seed()});
  LimitRunner limit(method, DType::f32, static_cast<std::uint64_t>(n), threads);
  return ratio_of([&] { limit.step(); }, [&] { step.step(); }, pairs);
}

/// One way to step bcosw_c against the plain one on a tensor of as many elements.
Figure against_plain(const Method& method, const Shapes& shapes, StepRunner::Options options,
                     int pairs) {
  options.seed = fresh_seed();
  StepRunner candidate(method, DType::f32, shapes, options);
  StepRunner plain(bcosw_c, DType::f32, Shapes{{static_cast<std::int64_t>(candidate.elements())}},
                   {.threads = options.threads, .seed = options.seed + 1});
  return ratio_of([&] { plain.step(); }, [&] { candidate.step(); }, pairs);
}

Figure row_blocks(std::int64_t width, int threads, int pairs) {
  Method rows = bcosw_c;
  rows.blocks = Blocks::of(Layout::row);
  return against_plain(rows, {{kMemoryBound / width, width}}, {.threads = threads}, pairs);
}

/// A process that keeps one core busy, or lets it be.
class BusyNeighbour {
 public:
  BusyNeighbour() : child_(fork()) {
    // Signals to process -1 would go to everybody.
    if (child_ < 0) throw fail(ErrorCode::io, "bench", "expected a process but received none");
    if (child_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) asm volatile("");
    }
    rest();
  }
  ~BusyNeighbour() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  BusyNeighbour(const BusyNeighbour&) = delete;
  BusyNeighbour& operator=(const BusyNeighbour&) = delete;

  void work() const { kill(child_, SIGCONT); }
  void rest() const { kill(child_, SIGSTOP); }

 private:
  pid_t child_;
};

Figure beside_a_busy_process(int pairs) {
  const BusyNeighbour neighbour;
  StepRunner runner(bcosw_c, DType::f32, Shapes{{100'000'000}},
                    {.threads = 0, .seed = fresh_seed()});
  std::vector<double> ratios, quiets;
  for (int i = 0; i < pairs; ++i) {
    const double quiet = seconds_of([&] { runner.step(); });
    neighbour.work();
    const double disturbed = seconds_of([&] { runner.step(); });
    neighbour.rest();
    ratios.push_back(disturbed / quiet);
    quiets.push_back(quiet);
  }
  return figure_of(quartiles_of(ratios), quartiles_of(quiets));
}

}  // namespace

std::vector<Goal> speed_goals() {
  std::vector<Goal> goals;
  for (const int threads : {1, 0}) {
    const std::string on = threads == 1 ? "1 thread" : "all threads";
    const auto add = [&](const std::string& what, double to_reach, auto measure) {
      goals.push_back({fmt::format("{}, {}", what, on), to_reach, measure});
    };
    add("bcosw_c over its limit, 1e7", 1.06,
        [=](int pairs) { return against_limit(bcosw_c, kMemoryBound, threads, pairs); });
    add("bcosw_c over its limit, 1e8", 1.06,
        [=](int pairs) { return against_limit(bcosw_c, 100'000'000, threads, pairs); });
    add("adamw over its limit, 1e7", 1.06,
        [=](int pairs) { return against_limit(adamw, kMemoryBound, threads, pairs); });
    add("148 tensors of GPT-2 over one array", 1.05, [=](int pairs) {
      return against_plain(bcosw_c, gpt2_shapes(), {.threads = threads}, pairs);
    });
    add("rows of 1024 over coordinates, 1e7", 1.10,
        [=](int pairs) { return row_blocks(1024, threads, pairs); });
    add("rows of 4096 over coordinates, 1e7", 1.15,
        [=](int pairs) { return row_blocks(4096, threads, pairs); });
    add("guard and clipping over plain, 1e7", threads == 1 ? 1.45 : 1.40, [=](int pairs) {
      return against_plain(bcosw_c, {{kMemoryBound}},
                           {.threads = threads, .step = {.max_norm = 1.0, .guard = Guard::skip}},
                           pairs);
    });
  }
  goals.push_back({"beside a busy process over undisturbed, 1e8, all threads", 1.8,
                   [](int pairs) { return beside_a_busy_process(pairs); }});
  return goals;
}

Figure measured_in_processes(const Goal& goal, int processes, int pairs) {
  std::vector<double> ratios, unrests;
  for (int i = 0; i < processes; ++i) {
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0) throw fail(ErrorCode::io, "bench", "expected a pipe but received none");
    const pid_t child = fork();
    if (child == 0) {
      Figure figure;
      try {
        figure = goal.measure(pairs);
      } catch (...) {
        _exit(1);
      }
      _exit(write(ends[1], &figure, sizeof(figure)) == sizeof(figure) ? 0 : 1);
    }
    close(ends[1]);
    Figure figure;
    const bool read_all = child > 0 && read(ends[0], &figure, sizeof(figure)) == sizeof(figure);
    close(ends[0]);
    int status = 0;
    if (child > 0) waitpid(child, &status, 0);
    if (!read_all) {
      throw fail(ErrorCode::internal, "bench",
                 "expected a figure for '{}' but its process ended: is there memory enough?",
                 goal.what);
    }
    ratios.push_back(figure.ratio);
    unrests.push_back(figure.unrest);
  }
  return {quartiles_of(ratios).median, quartiles_of(unrests).median};
}

}  // namespace bcos::lab::bench
