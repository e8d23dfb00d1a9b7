#pragma once

#include <string_view>

// BCOS_EMBED(name, file) defines name(), the text of a file, in the namespace where it stands: the
// assembler copies it.
// BCOS_ASSETS_FOLDER, a string literal, is where it is.
#define BCOS_EMBED(name, file)                 \
  asm(".pushsection .rodata\n"                 \
      ".global bcos_" #name                    \
      "_begin\n"                               \
      ".hidden bcos_" #name                    \
      "_begin\n"                               \
      "bcos_" #name                            \
      "_begin:\n"                              \
      ".incbin \"" BCOS_ASSETS_FOLDER "/" file \
      "\"\n"                                   \
      ".global bcos_" #name                    \
      "_end\n"                                 \
      ".hidden bcos_" #name                    \
      "_end\n"                                 \
      "bcos_" #name                            \
      "_end:\n"                                \
      ".byte 0\n"                              \
      ".popsection\n");                        \
  extern "C" {                                 \
  extern const char bcos_##name##_begin[];     \
  extern const char bcos_##name##_end[];       \
  }                                            \
  std::string_view name() { return {bcos_##name##_begin, bcos_##name##_end}; }
