// Authenticated encryption of small records (AES-256-GCM), and comparing secrets.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace rt {

inline constexpr std::size_t kSealingKeyBytes = 32;

// A new random nonce (12 bytes), the ciphertext, the tag (16 bytes). `associated` is not kept, but must be the same
// when it is opened. With random nonces one key is good for 2^32 records. `key` has kSealingKeyBytes. Any thread. Ends
// the program where OpenSSL has no random bytes or no memory: nothing may go out unsealed instead.
std::string seal(std::string_view key, std::string_view plain, std::string_view associated);
// Empty if the key, the associated text, or any bit differs. `sealed` may be anything.
std::optional<std::string> unseal(std::string_view key, std::string_view sealed, std::string_view associated);

// Looks at every byte, so that the time says nothing about how much is alike. Lengths are not secret.
bool equal_secret(std::string_view a, std::string_view b);

}  // namespace rt
