// The bytes are put in by the assembler, as those of the launcher are.
#include "pipelines/stage/program.h"

__asm__(
    ".section .rodata\n"
    ".global volcano_stage_begin\n"
    ".global volcano_stage_end\n"
    "volcano_stage_begin:\n"
    ".incbin \"" VOLCANO_STAGE_FILE
    "\"\n"
    "volcano_stage_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" const char volcano_stage_begin[], volcano_stage_end[];

namespace pipelines {

std::string_view stage_program() {
  return {volcano_stage_begin, static_cast<std::size_t>(volcano_stage_end - volcano_stage_begin)};
}

}  // namespace pipelines
