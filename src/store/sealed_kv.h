// A key-value store whose Secrets are encrypted on the disk: between the store of objects and the database.
//
// Only the JSON text of a record of Secrets (objects and history, store/persist.h) is replaced:
//
//   "volcano:enc:aes-256-gcm:v1:" NAME ":" CHECK ":" SUM ":"    then nonce, ciphertext and tag (rt/tls/sealing.h)
//
// NAME is the key's, CHECK tells it from another key of that name, and SUM (8 characters of the SHA-256 of what is
// before it) tells a key that is missing from a record that is damaged. The key in the database and the bytes before
// the text (revision, or kind of change) are the associated text, so that no record can be moved to another name or
// revision. The values in memory, in watches and in answers are plain.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "rt/storage/kv.h"
#include "store/encryption_keys.h"

namespace store {

// The text of a record that scan() gave: it is encrypted, and cannot be decrypted although its key is there.
bool is_sealed(std::string_view text);

class SealedKv : public rt::KvStore {
 public:
  // The fate of a record in scan() whose key is not among `keys`.
  enum class Missing : std::uint8_t {
    kRefuse,    // an error that names the record and the key
    kPassOver,  // for programs that look through a database without its keys
  };
  SealedKv(std::unique_ptr<rt::KvStore> inner, EncryptionKeys keys, Missing missing = Missing::kRefuse);

  base::Status commit(const std::function<void(rt::KvWriter&)>& changes) override;
  base::Status commit_with_reserve(const std::function<void(rt::KvWriter&)>& changes) override;
  // A damaged record is passed on as it is.
  base::Status scan(std::string_view begin, std::string_view end,
                    const std::function<bool(std::string_view, std::string_view)>& visit) const override;

  // Writes anew what is not under the key that writes: plain text, and older keys. Before the first commit.
  base::Status seal_all();
  // Records that kPassOver leaves out.
  base::Result<std::size_t> passed_over() const;

 private:
  std::unique_ptr<rt::KvStore> inner_;
  EncryptionKeys keys_;
  Missing missing_;
};

}  // namespace store
