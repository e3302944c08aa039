// Short names and keys from texts that strangers choose.
#pragma once

#include <string>
#include <string_view>

#include "rt/tls/tls.h"

namespace controllers::pipelines {

// The first letters of the SHA-256 in hexadecimal digits.
inline std::string hash_of(std::string_view bytes, std::size_t length) {
  return rt::sha256_hex(bytes).substr(0, length);
}

}  // namespace controllers::pipelines
