#include "lab/report/assets.hpp"

#include "lab/report/embed.hpp"

BCOS_EMBED(page_html, "page.html")
BCOS_EMBED(page_css, "page.css")
BCOS_EMBED(figure_css, "figure.css")
BCOS_EMBED(chart_js, "chart.js")
BCOS_EMBED(diagnosis_js, "diagnosis.js")
BCOS_EMBED(page_js, "page.js")
