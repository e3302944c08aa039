// A whole text that was compressed with gzip.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace rt {

// Fails on broken data, and when the result would exceed `bytes_max`.
base::Result<std::string> gunzip(std::string_view compressed, std::size_t bytes_max);
bool is_gzip(std::string_view data);

}  // namespace rt
