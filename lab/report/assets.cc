#include "lab/report/assets.hpp"

#include "lab/cli/embed.hpp"

namespace bcos::lab::report {

BCOS_EMBED(page_html, "page.html")
BCOS_EMBED(page_css, "page.css")
BCOS_EMBED(chart_js, "chart.js")
BCOS_EMBED(diagnosis_js, "diagnosis.js")
BCOS_EMBED(page_js, "page.js")

}  // namespace bcos::lab::report
