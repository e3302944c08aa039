// Text formatting, by fmt. This header is the only one that names the library.
#pragma once

#define FMT_ENFORCE_COMPILE_STRING 0
#include <fmt/core.h>

namespace base {

using fmt::format;

}  // namespace base
