// The bytes of the program that moves artifacts between a step and S3-compatible stores (stage.c).
#pragma once

#include <string_view>

namespace pipelines {

// Empty: it was not built, because a compiler of musl or mbedTLS was missing.
std::string_view stage_program();

}  // namespace pipelines
