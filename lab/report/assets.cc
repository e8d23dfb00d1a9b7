#include "lab/report/assets.hpp"

// The assembler copies a file; BCOS_REPORT_FOLDER is where they are, a string literal.
#define BCOS_EMBED(name, file)                                                 \
  asm(".pushsection .rodata\n"                                                 \
      ".global bcos_" #name                                                    \
      "_begin\n"                                                               \
      ".hidden bcos_" #name                                                    \
      "_begin\n"                                                               \
      "bcos_" #name                                                            \
      "_begin:\n"                                                              \
      ".incbin \"" BCOS_REPORT_FOLDER "/" file                                 \
      "\"\n"                                                                   \
      ".global bcos_" #name                                                    \
      "_end\n"                                                                 \
      ".hidden bcos_" #name                                                    \
      "_end\n"                                                                 \
      "bcos_" #name                                                            \
      "_end:\n"                                                                \
      ".byte 0\n"                                                              \
      ".popsection\n");                                                        \
  extern "C" {                                                                 \
  extern const char bcos_##name##_begin[];                                     \
  extern const char bcos_##name##_end[];                                       \
  }                                                                            \
  namespace bcos::lab {                                                        \
  std::string_view name() { return {bcos_##name##_begin, bcos_##name##_end}; } \
  }

BCOS_EMBED(page_html, "page.html")
BCOS_EMBED(page_css, "page.css")
BCOS_EMBED(chart_js, "chart.js")
BCOS_EMBED(diagnosis_js, "diagnosis.js")
BCOS_EMBED(page_js, "page.js")
