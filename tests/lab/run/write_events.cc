// write_events DIRECTORY: the event files of a run that is cut after step 8 and resumed from 5, for
// tensorboard_test.py to read.
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>

#include "lab/run/tensorboard.hpp"

int main(int count, char** arguments) try {
  if (count != 2) return 2;
  const std::string directory = arguments[1];
  {
    bcos::lab::run::EventFile events(directory);
    for (std::uint64_t step = 0; step <= 8; ++step) {
      events.scalar(step, 1000.5 + static_cast<double>(step), "train/loss",
                    10.0 - static_cast<double>(step));
      if (step % 4 == 0) events.scalar(step, 1000.5, "val/loss", 20.0);
    }
    events.scalar(3, 1000.5, "odd/größe", std::numeric_limits<double>::infinity());
    events.scalar(4, 1000.5, "odd/größe", std::nan(""));
    events.scalar(std::uint64_t{1} << 40, 1000.5, "odd/far", 1e-30);
  }
  bcos::lab::run::EventFile events(directory, 5);
  for (std::uint64_t step = 5; step <= 7; ++step) {
    events.scalar(step, 2000.5 + static_cast<double>(step), "train/loss",
                  100.0 + static_cast<double>(step));
  }
  events.flush();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "write_events: %s\n", error.what());
  return 1;
}
