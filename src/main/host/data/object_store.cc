// The file of keys, looked at before it is read.
#include "main/host/data/object_store.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/format.h"
#include "rt/files/files.h"

namespace volcano_main {
namespace {

constexpr off_t kFileBytesMax = 64 << 10;

base::Error wrong(const std::string& path, std::string_view why) {
  return base::make_error(base::Code::kInvalid, base::format("--encryption-key-file: {}: {}", path, why));
}

}  // namespace

base::Result<store::EncryptionKeys> read_encryption_keys(const std::string& path) {
  if (path.empty()) return store::EncryptionKeys();
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) != 0) return wrong(path, std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) return wrong(path, "it is not a regular file");
  if (facts.st_size > kFileBytesMax) return wrong(path, "it has more than 64 KiB");
  if ((facts.st_mode & 077) != 0)
    return wrong(path, base::format("others than its owner may use it (mode {:04o}); chmod 600 takes that away",
                                    facts.st_mode & 07777));
  const auto text = rt::read_file(path);
  if (!text.ok()) return wrong(path, text.error().message);
  auto keys = store::EncryptionKeys::parse(*text);
  if (!keys.ok()) return wrong(path, keys.error().message);
  return keys;
}

base::Result<std::unique_ptr<store::SealedKv>> open_objects(rt::Env& env, const std::string& data,
                                                            std::size_t map_bytes_max, const std::string& key_file,
                                                            store::SealedKv::Missing missing) {
  TRY(store::EncryptionKeys keys, read_encryption_keys(key_file));
  TRY(std::unique_ptr<rt::KvStore> kv, env.open_store(data + "/objects", map_bytes_max));
  return std::make_unique<store::SealedKv>(std::move(kv), std::move(keys), missing);
}

}  // namespace volcano_main
