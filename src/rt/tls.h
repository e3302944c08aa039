// Keys and certificates (ECDSA P-256), made by us: a CA, server and client certificates; RSA pairs for ssh.
#pragma once

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

base::Result<KeyPair> make_ca(const std::string& common_name, base::Time now, base::Duration valid_for);
base::Result<KeyPair> issue_certificate(const KeyPair& ca, const CertificateSubject& subject, base::Time now,
                                        base::Duration valid_for);

// An RSA key as OpenSSH clients read it: PKCS#1 PEM private key and the authorized_keys line without comment.
struct SshKeyPair {
  std::string private_pem;
  std::string public_line;
};
base::Result<SshKeyPair> make_rsa_ssh_key(int bits);

std::string base64_encode(std::string_view bytes);
base::Result<std::string> base64_decode(std::string_view text);
std::string sha256_hex(std::string_view bytes);
// Cryptographically random bytes, hex encoded; for tokens. Not for anything that must replay.
std::string secure_token(std::size_t bytes);

}  // namespace rt
