// OpenSSL behind a few functions: certificates, keys, digests.
#include "rt/tls/tls.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "base/base64.h"
#include "base/format.h"
#include "rt/tls/certificate_requests.h"

namespace rt {
namespace {

using base::Code;
using base::make_error;
using base::Result;

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Bio = std::unique_ptr<BIO, Deleter<BIO_free_all>>;

base::Error crypto_error(std::string_view what) {
  return make_error(Code::kInternal, base::format("OpenSSL could not {}", what));
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<std::size_t>(size));
}

std::string key_pem(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey_traditional(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return text_of(bio.get());
}

std::string certificate_pem(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate);
  return text_of(bio.get());
}

// A key's password cannot be asked for here.
int no_password(char*, int, int, void*) { return -1; }

base::Time time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return {static_cast<std::int64_t>(::timegm(&parts)) * 1'000'000'000};
}

bool add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (!extension) return false;
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return true;
}

base::Status add_name(X509_NAME* name, const char* field, const std::string& value) {
  if (X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value.data()),
                                 static_cast<int>(value.size()), -1, 0) == 1)
    return {};
  ERR_clear_error();
  return make_error(Code::kInvalid, base::format("a certificate cannot hold the name {:?}", value));
}

std::vector<std::string> names_in(X509_NAME* name, int nid) {
  std::vector<std::string> all;
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, nid, at)) >= 0;) {
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size < 0) continue;
    all.emplace_back(reinterpret_cast<char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
  }
  return all;
}

std::string serial_of(const X509* certificate) {
  BIGNUM* number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr);
  char* text = number ? BN_bn2hex(number) : nullptr;
  const std::string serial = text ? text : "";
  OPENSSL_free(text);
  BN_free(number);
  return serial;
}

Certificate blank_certificate(base::Time now, base::Time end, EVP_PKEY* key) {
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  unsigned char serial[16];
  RAND_bytes(serial, sizeof serial);
  serial[0] &= 0x7f;
  BIGNUM* number = BN_bin2bn(serial, sizeof serial, nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate.get()));
  BN_free(number);
  // Valid from an hour ago: clocks differ a little.
  ASN1_TIME_set(X509_getm_notBefore(certificate.get()), (now.ns / 1'000'000'000) - 3600);
  ASN1_TIME_set(X509_getm_notAfter(certificate.get()), end.ns / 1'000'000'000);
  X509_set_pubkey(certificate.get(), key);
  return certificate;
}

Result<Key> read_key(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
  if (!key) return crypto_error("read a private key");
  return key;
}

Result<Certificate> read_certificate(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr));
  if (!certificate) return crypto_error("read a certificate");
  return certificate;
}

Result<Key> read_or_make_key(const std::string& pem) {
  if (!pem.empty()) return read_key(pem);
  Key key(EVP_EC_gen("P-256"));
  if (!key) return crypto_error("make a key");
  return key;
}

void append_ssh_bytes(std::string& out, std::string_view bytes) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(bytes.size() >> shift & 0xff);
  out += bytes;
}

// An SSH mpint: big endian, with a zero byte in front where the top bit is set.
std::string ssh_number(EVP_PKEY* key, const char* name) {
  BIGNUM* number = nullptr;
  EVP_PKEY_get_bn_param(key, name, &number);
  std::string bytes(static_cast<std::size_t>(BN_num_bytes(number)), '\0');
  BN_bn2bin(number, reinterpret_cast<unsigned char*>(bytes.data()));
  BN_free(number);
  if (!bytes.empty() && (bytes[0] & 0x80)) bytes.insert(0, 1, '\0');
  return bytes;
}

}  // namespace

Result<KeyPair> make_ca(const std::string& common_name, base::Time now, base::Duration valid_for,
                        const std::string& own_key) {
  TRY(const Key key, read_or_make_key(own_key));
  Certificate certificate = blank_certificate(now, now + valid_for, key.get());
  X509_NAME* name = X509_get_subject_name(certificate.get());
  TRY_VOID(add_name(name, "CN", common_name));
  X509_set_issuer_name(certificate.get(), name);
  add_extension(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate.get(), certificate.get(), NID_key_usage, "critical,keyCertSign,cRLSign,digitalSignature");
  add_extension(certificate.get(), certificate.get(), NID_subject_key_identifier, "hash");
  if (!X509_sign(certificate.get(), key.get(), EVP_sha256())) return crypto_error("sign a certificate");
  return KeyPair{certificate_pem(certificate.get()), key_pem(key.get())};
}

Result<KeyPair> issue_certificate(const KeyPair& ca, const CertificateSubject& subject, base::Time now,
                                  base::Duration valid_for, const std::string& own_key) {
  TRY(const Key ca_key, read_key(ca.key_pem));
  TRY(const Certificate ca_certificate, read_certificate(ca.certificate_pem));
  TRY(const Key key, read_or_make_key(own_key));
  const base::Time end = std::min(now + valid_for, time_of(X509_get0_notAfter(ca_certificate.get())));
  Certificate certificate = blank_certificate(now, end, key.get());
  X509_NAME* name = X509_get_subject_name(certificate.get());
  for (const std::string& organization : subject.organizations) TRY_VOID(add_name(name, "O", organization));
  TRY_VOID(add_name(name, "CN", subject.common_name));
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(ca_certificate.get()));
  add_extension(certificate.get(), ca_certificate.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(certificate.get(), ca_certificate.get(), NID_key_usage, "critical,digitalSignature");
  add_extension(certificate.get(), ca_certificate.get(), NID_ext_key_usage,
                subject.server ? "serverAuth" : "clientAuth");
  std::string alternatives;
  for (const std::string& dns : subject.dns_names) alternatives += (alternatives.empty() ? "DNS:" : ",DNS:") + dns;
  for (const std::string& ip : subject.ip_addresses) alternatives += (alternatives.empty() ? "IP:" : ",IP:") + ip;
  if (!alternatives.empty() &&
      !add_extension(certificate.get(), ca_certificate.get(), NID_subject_alt_name, alternatives))
    return make_error(Code::kInvalid, base::format("a certificate cannot be made for the names {}", alternatives));
  if (!X509_sign(certificate.get(), ca_key.get(), EVP_sha256())) return crypto_error("sign a certificate");
  return KeyPair{certificate_pem(certificate.get()), key_pem(key.get())};
}

namespace {

using Asked = std::unique_ptr<X509_REQ, Deleter<X509_REQ_free>>;

Result<Asked> read_request(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  Asked asked(PEM_read_bio_X509_REQ(bio.get(), nullptr, no_password, nullptr));
  if (!asked) {
    ERR_clear_error();
    return make_error(Code::kInvalid, "it is not a certificate request in PEM form");
  }
  EVP_PKEY* key = X509_REQ_get0_pubkey(asked.get());
  if (key == nullptr || X509_REQ_verify(asked.get(), key) != 1) {
    ERR_clear_error();
    return make_error(Code::kInvalid, "the certificate request is not signed by its own key");
  }
  return asked;
}

// Adds the extension where there is anything to say.
base::Status add_usages(X509* certificate, X509* issuer, int nid, const std::vector<std::string>& usages) {
  std::string value;
  for (const std::string& one : usages) value += (value.empty() ? "" : ",") + one;
  if (nid == NID_key_usage && !value.empty()) value.insert(0, "critical,");
  if (value.empty() || add_extension(certificate, issuer, nid, value)) return {};
  ERR_clear_error();
  return make_error(Code::kInvalid, base::format("a certificate cannot be made for the usages {}", value));
}

void read_names(X509_REQ* asked, RequestFacts& facts) {
  STACK_OF(X509_EXTENSION)* extensions = X509_REQ_get_extensions(asked);
  auto* names = static_cast<GENERAL_NAMES*>(X509V3_get_d2i(extensions, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type != GEN_DNS && name->type != GEN_IPADD) {
      facts.other_names = true;
      continue;
    }
    const ASN1_STRING* value = name->type == GEN_DNS ? name->d.dNSName : name->d.iPAddress;
    const std::string bytes(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                            static_cast<std::size_t>(ASN1_STRING_length(value)));
    char text[INET6_ADDRSTRLEN];
    if (name->type == GEN_DNS)
      facts.dns_names.push_back(bytes);
    else if (bytes.size() == 4 || bytes.size() == 16)
      facts.ip_addresses.emplace_back(
          ::inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text));
  }
  GENERAL_NAMES_free(names);
  sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
}

}  // namespace

Result<RequestFacts> certificate_request_facts(const std::string& request_pem) {
  TRY(const Asked asked, read_request(request_pem));
  RequestFacts facts;
  X509_NAME* subject = X509_REQ_get_subject_name(asked.get());
  for (std::string& one : names_in(subject, NID_commonName)) facts.common_name = std::move(one);
  facts.organizations = names_in(subject, NID_organizationName);
  read_names(asked.get(), facts);
  return facts;
}

Result<std::string> sign_certificate_request(const KeyPair& ca, const std::string& request_pem,
                                             const SigningTerms& terms, base::Time now) {
  TRY(const Asked asked, read_request(request_pem));
  TRY(const Key ca_key, read_key(ca.key_pem));
  TRY(const Certificate issuer, read_certificate(ca.certificate_pem));
  const base::Time end = std::min(now + terms.valid_for, time_of(X509_get0_notAfter(issuer.get())));
  Certificate certificate = blank_certificate(now, end, X509_REQ_get0_pubkey(asked.get()));
  X509_set_subject_name(certificate.get(), X509_REQ_get_subject_name(asked.get()));
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer.get()));
  add_extension(certificate.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE");
  TRY_VOID(add_usages(certificate.get(), issuer.get(), NID_key_usage, terms.key_usages));
  TRY_VOID(add_usages(certificate.get(), issuer.get(), NID_ext_key_usage, terms.extended_usages));
  // Only the names are taken over from the extensions that were asked for: nobody asks for a CA here.
  STACK_OF(X509_EXTENSION)* extensions = X509_REQ_get_extensions(asked.get());
  const int at = X509v3_get_ext_by_NID(extensions, NID_subject_alt_name, -1);
  if (at >= 0) X509_add_ext(certificate.get(), X509v3_get_ext(extensions, at), -1);
  sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
  if (!X509_sign(certificate.get(), ca_key.get(), EVP_sha256())) return crypto_error("sign a certificate");
  return certificate_pem(certificate.get());
}

Result<CertificateFacts> certificate_facts(const std::string& pem) {
  TRY(const Certificate certificate, read_certificate(pem));
  CertificateFacts facts;
  facts.not_before = time_of(X509_get0_notBefore(certificate.get()));
  facts.not_after = time_of(X509_get0_notAfter(certificate.get()));
  facts.ca = X509_check_ca(certificate.get()) == 1;
  facts.serial = serial_of(certificate.get());
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  for (std::string& one : names_in(subject, NID_commonName)) facts.common_name = std::move(one);
  facts.organizations = names_in(subject, NID_organizationName);
  auto* names =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type != GEN_DNS && name->type != GEN_IPADD) continue;
    const ASN1_STRING* value = name->type == GEN_DNS ? name->d.dNSName : name->d.iPAddress;
    const std::string bytes(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                            static_cast<std::size_t>(ASN1_STRING_length(value)));
    if (name->type == GEN_DNS) {
      facts.dns_names.push_back(bytes);
    } else if (bytes.size() == 4 || bytes.size() == 16) {
      char text[INET6_ADDRSTRLEN];
      facts.ip_addresses.emplace_back(
          ::inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text));
    }
  }
  GENERAL_NAMES_free(names);
  return facts;
}

base::Status check_pair(const KeyPair& pair) {
  TRY(const Certificate certificate, read_certificate(pair.certificate_pem));
  TRY(const Key key, read_key(pair.key_pem));
  if (X509_check_private_key(certificate.get(), key.get()) != 1)
    return make_error(Code::kInvalid, "the certificate and the key do not belong together");
  return {};
}

base::Status check_signed_by(const std::string& certificate_pem, const std::string& ca_pem) {
  TRY(const Certificate certificate, read_certificate(certificate_pem));
  TRY(const Certificate ca, read_certificate(ca_pem));
  if (X509_verify(certificate.get(), X509_get0_pubkey(ca.get())) != 1)
    return make_error(Code::kInvalid, "the certificate is not signed by the CA");
  return {};
}

std::optional<std::string> usual_ip(const std::string& address) {
  for (const int family : {AF_INET, AF_INET6}) {
    unsigned char bytes[16];
    char text[INET6_ADDRSTRLEN];
    if (::inet_pton(family, address.c_str(), bytes) == 1) return ::inet_ntop(family, bytes, text, sizeof text);
  }
  return {};
}

Result<std::string> traditional_key_pem(const std::string& pem) {
  TRY(const Key key, read_key(pem));
  return key_pem(key.get());
}

Result<SshKeyPair> make_rsa_ssh_key(int bits) {
  const Key key(EVP_RSA_gen(static_cast<unsigned>(bits)));
  if (!key) return crypto_error("make an RSA key");
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!PEM_write_bio_PrivateKey_traditional(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr))
    return crypto_error("write an RSA key");
  std::string blob;
  append_ssh_bytes(blob, "ssh-rsa");
  append_ssh_bytes(blob, ssh_number(key.get(), OSSL_PKEY_PARAM_RSA_E));
  append_ssh_bytes(blob, ssh_number(key.get(), OSSL_PKEY_PARAM_RSA_N));
  return SshKeyPair{text_of(bio.get()), "ssh-rsa " + base::base64_encode(blob)};
}

namespace {

struct BigNumbers {
  std::unique_ptr<BN_CTX, Deleter<BN_CTX_free>> context{BN_CTX_new()};
  std::unique_ptr<EC_GROUP, Deleter<EC_GROUP_free>> group{EC_GROUP_new_by_curve_name(NID_secp521r1)};
  std::unique_ptr<BIGNUM, Deleter<BN_clear_free>> secret{BN_new()};
  std::unique_ptr<BIGNUM, Deleter<BN_free>> range{BN_new()};
};

// A number from 1 to below the order of the curve. More bytes than it needs leave no number more likely than another.
bool draw_secret(BigNumbers& n, std::string_view chance) {
  return BN_copy(n.range.get(), EC_GROUP_get0_order(n.group.get())) && BN_sub_word(n.range.get(), 1) &&
         BN_bin2bn(reinterpret_cast<const unsigned char*>(chance.data()), static_cast<int>(chance.size()),
                   n.secret.get()) &&
         BN_nnmod(n.secret.get(), n.secret.get(), n.range.get(), n.context.get()) && BN_add_word(n.secret.get(), 1);
}

// The uncompressed point that belongs to the secret; empty: OpenSSL failed.
std::string public_point(BigNumbers& n) {
  const std::unique_ptr<EC_POINT, Deleter<EC_POINT_free>> point(EC_POINT_new(n.group.get()));
  if (!point || !EC_POINT_mul(n.group.get(), point.get(), n.secret.get(), nullptr, nullptr, n.context.get())) return {};
  const auto form = POINT_CONVERSION_UNCOMPRESSED;
  std::string bytes(EC_POINT_point2oct(n.group.get(), point.get(), form, nullptr, 0, n.context.get()), '\0');
  EC_POINT_point2oct(n.group.get(), point.get(), form, reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(),
                     n.context.get());
  return bytes;
}

Key key_of(const BigNumbers& n, const std::string& point) {
  const std::unique_ptr<OSSL_PARAM_BLD, Deleter<OSSL_PARAM_BLD_free>> builder(OSSL_PARAM_BLD_new());
  if (!builder || !OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "P-521", 0) ||
      !OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) ||
      !OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, n.secret.get()))
    return {};
  const std::unique_ptr<OSSL_PARAM, Deleter<OSSL_PARAM_free>> parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  const std::unique_ptr<EVP_PKEY_CTX, Deleter<EVP_PKEY_CTX_free>> maker(
      EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  EVP_PKEY* key = nullptr;
  if (!parameters || !maker || EVP_PKEY_fromdata_init(maker.get()) <= 0 ||
      EVP_PKEY_fromdata(maker.get(), &key, EVP_PKEY_KEYPAIR, parameters.get()) <= 0)
    return {};
  return Key(key);
}

}  // namespace

Result<SshKeyPair> make_p521_ssh_key(std::string_view chance) {
  constexpr std::size_t kChanceBytes = 80;
  CHECK(chance.size() >= kChanceBytes);
  BigNumbers numbers;
  if (!numbers.group || !draw_secret(numbers, chance)) return crypto_error("make an EC key");
  const std::string point = public_point(numbers);
  const Key key = key_of(numbers, point);
  if (!key) return crypto_error("make an EC key");
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!PEM_write_bio_PrivateKey_traditional(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr))
    return crypto_error("write an EC key");
  constexpr std::string_view kType = "ecdsa-sha2-nistp521";
  std::string blob;
  append_ssh_bytes(blob, kType);
  append_ssh_bytes(blob, "nistp521");
  append_ssh_bytes(blob, point);
  return SshKeyPair{text_of(bio.get()), base::format("{} {}", kType, base::base64_encode(blob))};
}

namespace {

std::string hex(const unsigned char* bytes, std::size_t size) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < size; ++i) {
    out += kHex[bytes[i] >> 4];
    out += kHex[bytes[i] & 15];
  }
  return out;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  unsigned char digest[32];
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr);
  return hex(digest, size);
}

std::string secure_bytes(std::size_t count) {
  std::string raw(count, '\0');
  CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(raw.data()), static_cast<int>(count)) == 1);
  return raw;
}

std::string secure_token(std::size_t bytes) {
  const std::string raw = secure_bytes(bytes);
  return hex(reinterpret_cast<const unsigned char*>(raw.data()), bytes);
}

}  // namespace rt
