#include "lab/theory/assets.hpp"

#include "lab/cli/embed.hpp"

namespace bcos::lab::theory {

BCOS_EMBED(theory_html, "theory.html")
BCOS_EMBED(theory_css, "theory.css")

}  // namespace bcos::lab::theory
