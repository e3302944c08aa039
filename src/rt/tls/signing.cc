// OpenSSL's ECDSA, with signatures as JSON Web Signatures have them: two numbers of 32 bytes.
#include "rt/tls/signing.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/base64.h"

namespace rt {

using base::Code;
using base::make_error;

namespace {

constexpr std::size_t kTokenBytesMax = std::size_t{16} << 10;
constexpr int kHalf = 32;

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Deleter<EVP_MD_CTX_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, Deleter<ECDSA_SIG_free>>;
using Bio = std::unique_ptr<BIO, Deleter<BIO_free_all>>;

base::Error failed() { return make_error(Code::kInternal, "OpenSSL could not sign a token"); }
base::Error refused() { return make_error(Code::kUnauthorized, "the token is not one of ours"); }

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

constexpr std::string_view kHeader = R"({"alg":"ES256","typ":"JWT"})";

}  // namespace

struct TokenKey::Key {
  KeyPtr pointer;
};

TokenKey::TokenKey(std::unique_ptr<Key> key) : key_(std::move(key)) {}
TokenKey::~TokenKey() = default;

base::Result<std::string> TokenKey::new_pem() {
  const KeyPtr key(EVP_EC_gen("P-256"));
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!key || PEM_write_bio_PrivateKey_traditional(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return make_error(Code::kInternal, "OpenSSL could not make a key");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

base::Result<std::shared_ptr<const TokenKey>> TokenKey::load(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  KeyPtr key(PEM_read_bio_PrivateKey(
      bio.get(), nullptr, [](char*, int, int, void*) { return -1; }, nullptr));
  char curve[32] = "";
  std::size_t size = 0;
  if (!key || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_EC ||
      EVP_PKEY_get_utf8_string_param(key.get(), OSSL_PKEY_PARAM_GROUP_NAME, curve, sizeof curve, &size) != 1 ||
      std::string_view(curve) != "prime256v1")
    return make_error(Code::kInvalid, "it is not an EC key of the curve P-256");
  return std::shared_ptr<const TokenKey>(new TokenKey(std::make_unique<Key>(Key{std::move(key)})));
}

base::Result<std::string> TokenKey::sign(std::string_view payload) const {
  const std::string text = base::base64url_encode(kHeader) + "." + base::base64url_encode(payload);
  const Digest digest(EVP_MD_CTX_new());
  unsigned char der[256];
  std::size_t size = sizeof der;
  if (EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key_->pointer.get()) != 1 ||
      EVP_DigestSign(digest.get(), der, &size, bytes_of(text), text.size()) != 1)
    return failed();
  const unsigned char* at = der;
  const Signature signature(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size)));
  std::string raw(std::size_t{2} * kHalf, '\0');
  auto* out = reinterpret_cast<unsigned char*>(raw.data());
  if (!signature || BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), out, kHalf) != kHalf ||
      BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), out + kHalf, kHalf) != kHalf)
    return failed();
  return text + "." + base::base64url_encode(raw);
}

base::Result<std::string> TokenKey::verify(std::string_view token) const {
  const std::size_t first = token.find('.'), last = token.rfind('.');
  if (token.size() > kTokenBytesMax || first == std::string_view::npos || first == last) return refused();
  // Only what we write ourselves is read: no other algorithm can be asked for.
  if (token.substr(0, first) != base::base64url_encode(kHeader)) return refused();
  const auto raw = base::base64url_decode(token.substr(last + 1));
  auto payload = base::base64url_decode(token.substr(first + 1, last - first - 1));
  if (!raw.ok() || !payload.ok() || raw->size() != std::size_t{2} * kHalf) return refused();
  const Signature signature(ECDSA_SIG_new());
  BIGNUM* r = BN_bin2bn(bytes_of(*raw), kHalf, nullptr);
  BIGNUM* s = BN_bin2bn(bytes_of(*raw) + kHalf, kHalf, nullptr);
  if (!signature || ECDSA_SIG_set0(signature.get(), r, s) != 1) {
    BN_free(r);
    BN_free(s);
    return refused();
  }
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(signature.get(), &der);
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owned(der,
                                                                       [](unsigned char* of) { OPENSSL_free(of); });
  const Digest digest(EVP_MD_CTX_new());
  const std::string_view signed_text = token.substr(0, last);
  if (size <= 0 || EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, key_->pointer.get()) != 1 ||
      EVP_DigestVerify(digest.get(), der, static_cast<std::size_t>(size), bytes_of(signed_text), signed_text.size()) !=
          1)
    return refused();
  return payload;
}

}  // namespace rt
