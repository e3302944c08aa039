// The bytes are put in by the assembler: the file is made before this one is compiled.
#include "pipelines/launcher/program.h"

__asm__(
    ".section .rodata\n"
    ".global volcano_launch_begin\n"
    ".global volcano_launch_end\n"
    "volcano_launch_begin:\n"
    ".incbin \"" VOLCANO_LAUNCH_FILE
    "\"\n"
    "volcano_launch_end:\n"
    ".previous\n");

extern "C" const char volcano_launch_begin[], volcano_launch_end[];

namespace pipelines {

std::string_view launcher_program() {
  return {volcano_launch_begin, static_cast<std::size_t>(volcano_launch_end - volcano_launch_begin)};
}

}  // namespace pipelines
