// Keys and certificates (ECDSA P-256), made by us: a CA, server and client certificates; RSA pairs for ssh.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace rt {

struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

struct CertificateSubject {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;  // subject alternative names
  std::vector<std::string> ip_addresses;
  bool server = false;  // extended key usage: serverAuth, else clientAuth
};

// With `key_pem` the certificate is made for that key; a certificate is renewed so. A certificate ends with its CA's at
// the latest. An error: among others for a name that a certificate cannot hold (empty, or of more than 64 characters).
base::Result<KeyPair> make_ca(const std::string& common_name, base::Time now, base::Duration valid_for,
                              const std::string& key_pem = {});
base::Result<KeyPair> issue_certificate(const KeyPair& ca, const CertificateSubject& subject, base::Time now,
                                        base::Duration valid_for, const std::string& key_pem = {});

struct CertificateFacts {
  std::string serial;  // in hex
  std::string common_name;
  std::vector<std::string> organizations;
  base::Time not_before;
  base::Time not_after;
  bool ca = false;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;  // as texts, in the usual form
};
base::Result<CertificateFacts> certificate_facts(const std::string& certificate_pem);
// An error unless both can be read and belong together.
base::Status check_pair(const KeyPair& pair);
// An error unless the CA's key has signed it.
base::Status check_signed_by(const std::string& certificate_pem, const std::string& ca_pem);
// "::1" for "0:0:0:0:0:0:0:1"; nothing for what is not an address.
std::optional<std::string> usual_ip(const std::string& address);
// The key in the older form that every client reads (SEC1 for EC, PKCS#1 for RSA), which is how keys are made here.
base::Result<std::string> traditional_key_pem(const std::string& key_pem);

// An RSA key as OpenSSH clients read it: PKCS#1 PEM private key and the authorized_keys line without comment.
struct SshKeyPair {
  std::string private_pem;
  std::string public_line;
};
base::Result<SshKeyPair> make_rsa_ssh_key(int bits);
// A key on the curve P-521, SEC1 PEM. It follows from `chance`, which nobody else may know: 80 bytes or more.
base::Result<SshKeyPair> make_p521_ssh_key(std::string_view chance);

std::string sha256_hex(std::string_view bytes);
// Cryptographically random bytes, hex encoded; for tokens. Not for anything that must replay.
std::string secure_token(std::size_t bytes);
// The same, as they are.
std::string secure_bytes(std::size_t count);

}  // namespace rt
