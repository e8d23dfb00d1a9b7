#include "lab/theory/assets.hpp"

#include "lab/report/embed.hpp"

BCOS_EMBED(theory_html, "theory.html")
BCOS_EMBED(theory_css, "theory.css")
