#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bcos/schedule.hpp"
#include "lab/plot/line_plot.hpp"

namespace bcos::lab::commands {

/// How many steps of a schedule are worth showing when the user does not say.
std::uint64_t natural_steps(const Schedule& schedule);

/// 1, 2, 5, 10, 20, 25, 50, 100, ...: the first that cuts `steps` into at most `rows`.
std::uint64_t round_every(std::uint64_t steps, std::uint64_t rows);

/// 0, every, 2 every, ... and the last step.
std::vector<std::uint64_t> shown_steps(std::uint64_t steps, std::uint64_t every);

/// "cosine, alpha_max 0.002, warmup 2000, total 100000": the curve and what differs from defaults.
std::string title_of(const Schedule& schedule);

/// The curve with few enough points to draw, corners included.
plot::LinePlot plot_of(const Schedule& schedule, std::uint64_t steps);

}  // namespace bcos::lab::commands
