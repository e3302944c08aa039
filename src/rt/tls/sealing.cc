// OpenSSL's AES-256-GCM.
#include "rt/tls/sealing.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <climits>
#include <memory>

#include "base/check.h"

namespace rt {
namespace {

constexpr std::size_t kNonceBytes = 12, kTagBytes = 16;

struct Freed {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, Freed>;

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

std::string seal(std::string_view key, std::string_view plain, std::string_view associated) {
  CHECK(key.size() == kSealingKeyBytes && plain.size() < INT_MAX && associated.size() < INT_MAX);
  std::string nonce(kNonceBytes, '\0'), text(plain.size(), '\0'), tag(kTagBytes, '\0');
  const Context context(EVP_CIPHER_CTX_new());
  int size = 0;
  CHECK(context && RAND_bytes(bytes_of(nonce), kNonceBytes) == 1);
  CHECK(EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key), bytes_of(nonce)) == 1);
  CHECK(EVP_EncryptUpdate(context.get(), nullptr, &size, bytes_of(associated), static_cast<int>(associated.size())) ==
        1);
  CHECK(EVP_EncryptUpdate(context.get(), bytes_of(text), &size, bytes_of(plain), static_cast<int>(plain.size())) == 1);
  CHECK(EVP_EncryptFinal_ex(context.get(), bytes_of(text) + size, &size) == 1);
  CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, bytes_of(tag)) == 1);
  return nonce + text + tag;
}

std::optional<std::string> unseal(std::string_view key, std::string_view sealed, std::string_view associated) {
  CHECK(key.size() == kSealingKeyBytes);
  if (sealed.size() < kNonceBytes + kTagBytes || sealed.size() >= INT_MAX || associated.size() >= INT_MAX) return {};
  const std::string_view nonce = sealed.substr(0, kNonceBytes);
  const std::string_view text = sealed.substr(kNonceBytes, sealed.size() - kNonceBytes - kTagBytes);
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  std::string plain(text.size(), '\0');
  const Context context(EVP_CIPHER_CTX_new());
  int size = 0;
  const bool opened =
      context && EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key), bytes_of(nonce)) == 1 &&
      EVP_DecryptUpdate(context.get(), nullptr, &size, bytes_of(associated), static_cast<int>(associated.size())) ==
          1 &&
      EVP_DecryptUpdate(context.get(), bytes_of(plain), &size, bytes_of(text), static_cast<int>(text.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, bytes_of(tag)) == 1 &&
      EVP_DecryptFinal_ex(context.get(), bytes_of(plain) + size, &size) == 1;
  if (!opened) return {};
  return plain;
}

bool equal_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace rt
