// The database of objects, with the keys that encrypt Secrets in it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "rt/env.h"
#include "store/sealed_kv.h"

namespace volcano_main {

// The file that --encryption-key-file names; an empty path: no keys. Errors name the flag, the path and the line. A
// file that others may read, that is not a file, or that is larger than 64 KiB is refused.
base::Result<store::EncryptionKeys> read_encryption_keys(const std::string& path);
// Opens `data`/objects.
base::Result<std::unique_ptr<store::SealedKv>> open_objects(
    rt::Env& env, const std::string& data, std::size_t map_bytes_max, const std::string& key_file,
    store::SealedKv::Missing missing = store::SealedKv::Missing::kRefuse);

}  // namespace volcano_main
