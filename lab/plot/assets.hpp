#pragma once

#include <string_view>

namespace bcos::lab::plot {

/// The file beside this one that pictures are coloured by, copied into the program.
std::string_view figure_css();

}  // namespace bcos::lab::plot
