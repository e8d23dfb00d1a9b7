#include "lab/commands/check/golden.hpp"

// The assembler copies the file; BCOS_GOLDEN_FILE is its path, a string literal.
asm(".pushsection .rodata\n"
    ".global bcos_golden_begin\n"
    ".hidden bcos_golden_begin\n"
    "bcos_golden_begin:\n"
    ".incbin \"" BCOS_GOLDEN_FILE
    "\"\n"
    ".global bcos_golden_end\n"
    ".hidden bcos_golden_end\n"
    "bcos_golden_end:\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" {
extern const char bcos_golden_begin[];
extern const char bcos_golden_end[];
}

namespace bcos::lab::commands {

std::string_view golden_text() { return {bcos_golden_begin, bcos_golden_end}; }

}  // namespace bcos::lab::commands
