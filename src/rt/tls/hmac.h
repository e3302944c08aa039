// Keyed digests of texts: HMAC with SHA-256.
#pragma once

#include <string>
#include <string_view>

namespace rt {

// 32 bytes, as they are. Any thread.
std::string hmac_sha256(std::string_view key, std::string_view text);

}  // namespace rt
