#include "lab/plot/assets.hpp"

#include "lab/cli/embed.hpp"

namespace bcos::lab::plot {

BCOS_EMBED(figure_css, "figure.css")

}  // namespace bcos::lab::plot
