// The keys that Secrets are encrypted with on the disk, as a file lists them.
//
//   # a comment
//   2027:BASE64-OF-32-BYTES     the first line encrypts what is written
//   2026:BASE64-OF-32-BYTES     all of them decrypt
//   identity                    plain text; as the first line, nothing is encrypted any more
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace store {

struct EncryptionKey {
  std::string name;   // letters, digits, '.', '_', '-'; at most 63
  std::string bytes;  // 32; empty: identity
  std::string check;  // 16 characters that tell the key from others of the same name, and nothing else about it
};

// Immutable; any thread.
class EncryptionKeys {
 public:
  // No keys: what is written stays plain.
  EncryptionKeys() = default;
  // Errors (kInvalid) name the line and never what is in it beyond the key's name. At most 64 keys.
  static base::Result<EncryptionKeys> parse(std::string_view text);

  // Null: plain text is written.
  const EncryptionKey* writing() const;
  const EncryptionKey* find(std::string_view name) const;
  bool empty() const { return keys_.empty(); }

 private:
  std::vector<EncryptionKey> keys_;
};

}  // namespace store
