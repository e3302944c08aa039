// Base64 (RFC 4648), as text and bytes of Kubernetes' objects, keys and tokens are written.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace base {

// With padding.
std::string base64_encode(std::string_view bytes);
// Padding is demanded, and line ends are passed over, as Go's base64.StdEncoding reads it. kInvalid for other text.
Result<std::string> base64_decode(std::string_view text);
// The alphabet for URLs, without padding.
std::string base64url_encode(std::string_view bytes);
Result<std::string> base64url_decode(std::string_view text);

}  // namespace base
