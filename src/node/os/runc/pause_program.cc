// The bytes are put in by the assembler: the file is made before this one is compiled.
#include "node/os/runc/pause_program.h"

__asm__(
    ".section .rodata\n"
    ".global volcano_pause_begin\n"
    ".global volcano_pause_end\n"
    "volcano_pause_begin:\n"
    ".incbin \"" VOLCANO_PAUSE_FILE
    "\"\n"
    "volcano_pause_end:\n"
    ".previous\n");

extern "C" const char volcano_pause_begin[], volcano_pause_end[];

namespace node {

std::string_view pause_program() {
  return {volcano_pause_begin, static_cast<std::size_t>(volcano_pause_end - volcano_pause_begin)};
}

}  // namespace node
