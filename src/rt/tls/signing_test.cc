// Tokens: what a key signed it knows again, and nothing else.
#include "rt/tls/signing.h"

#include <gtest/gtest.h>

namespace rt {
namespace {

TEST(Signing, a_key_knows_its_own_tokens) {
  const auto key = *TokenKey::load(*TokenKey::new_pem()), other = *TokenKey::load(*TokenKey::new_pem());
  const std::string token = *key->sign(R"({"sub":"me"})");
  EXPECT_EQ(*key->verify(token), R"({"sub":"me"})");
  EXPECT_FALSE(other->verify(token).ok());
  for (std::size_t at = 0; at < token.size(); ++at) {
    std::string changed = token;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    const auto payload = key->verify(changed);
    // The last character of base64 has bits that mean nothing.
    EXPECT_TRUE(!payload.ok() || at + 1 == token.size()) << at;
  }
  for (const char* text : {"", ".", "..", "a.b.c", "eyJhbGciOiJub25lIn0.e30."}) EXPECT_FALSE(key->verify(text).ok());
  EXPECT_FALSE(key->verify(std::string(100'000, '.')).ok());
}

TEST(Signing, only_keys_of_the_curve_are_taken) {
  EXPECT_FALSE(TokenKey::load("").ok());
  EXPECT_FALSE(TokenKey::load("-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n").ok());
}

}  // namespace
}  // namespace rt
