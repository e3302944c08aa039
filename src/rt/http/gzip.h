// gzip: large answers shrink, and texts that others compressed are read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rt {

// At level 1: lists shrink more than ten times, at hundreds of megabytes a second. Empty if zlib fails.
std::optional<std::string> gzip(std::string_view text);
// Fails on broken data, and when the result would exceed `bytes_max`.
base::Result<std::string> gunzip(std::string_view compressed, std::size_t bytes_max);
// The same for deflated bytes without a frame, as a zip holds them.
base::Result<std::string> inflate(std::string_view packed, std::size_t bytes_max);
bool is_gzip(std::string_view data);

}  // namespace rt
