// Signed tokens: JSON Web Signatures with ES256 (ECDSA P-256 and SHA-256).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rt {

// A private key and what it signs. Any thread.
class TokenKey {
 public:
  // `pem` is an EC key of the curve P-256, such as new_pem() makes.
  static base::Result<std::shared_ptr<const TokenKey>> load(const std::string& pem);
  static base::Result<std::string> new_pem();

  // "HEADER.PAYLOAD.SIGNATURE", base64url; `payload` is JSON text.
  base::Result<std::string> sign(std::string_view payload) const;
  // The payload of a token that this key signed. kUnauthorized for every other text.
  base::Result<std::string> verify(std::string_view token) const;

  ~TokenKey();
  TokenKey(const TokenKey&) = delete;
  TokenKey& operator=(const TokenKey&) = delete;

 private:
  struct Key;
  explicit TokenKey(std::unique_ptr<Key> key);

  std::unique_ptr<Key> key_;
};

}  // namespace rt
