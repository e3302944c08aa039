// By OpenSSL.
#include "rt/tls/hmac.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/check.h"

namespace rt {

std::string hmac_sha256(std::string_view key, std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int bytes = 0;
  const auto* begin = reinterpret_cast<const unsigned char*>(text.data());
  const unsigned char* made =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), begin, text.size(), digest, &bytes);
  CHECK(made != nullptr);
  return {reinterpret_cast<const char*>(digest), bytes};
}

}  // namespace rt
