// `volcano backup FILE` while the cluster runs, and `volcano restore FILE` into a folder that has none.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "base/flags.h"
#include "base/format.h"
#include "main/host/data/backup_file.h"
#include "main/host/data/data_folder.h"
#include "main/host/keys/credentials.h"
#include "main/host/keys/key_files.h"
#include "main/programs/programs.h"
#include "rt/env.h"
#include "rt/files/files.h"
#include "rt/storage/kv.h"
#include "rt/storage/lmdb_snapshot.h"
#include "store/sealed_kv.h"
#include "store/store.h"

namespace volcano_main {
namespace {

using base::Code;
using base::make_error;
using base::Result;

constexpr std::int64_t kRevisionMax = INT64_MAX - 2'000'000'000;
constexpr std::size_t kRecordsPerCommit = 1000;
constexpr std::size_t kMapBytesMin = std::size_t{1} << 30;

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

base::Status back_up(const std::string& data, const std::string& path, bool keys) {
  if (is_there(path)) return make_error(Code::kAlreadyExists, path + " is there already; nothing was changed");
  TRY(const auto writer, BackupWriter::create(path));
  std::size_t objects = 0;
  base::Status written;
  TRY_VOID(rt::scan_lmdb_snapshot(data + "/objects", [&](std::string_view key, std::string_view value) {
    objects += key.starts_with('o');
    // History is of use to who watches now, and to nobody after a restore.
    if (!key.starts_with('h')) written = writer->add(Frame::kRecord, key, value);
    return written.ok();
  }));
  TRY_VOID(std::move(written));
  if (keys) {
    auto files = all_key_files(data + "/keys");
    if (!files.ok()) return base::within(files.take_error(), base::format("{} is not written", path));
    for (const KeyFile& file : *files) TRY_VOID(writer->add(Frame::kFile, file.name, file.content));
  }
  TRY_VOID(writer->finish());
  std::cout << base::format("{} is written: {} objects{}\n", path, objects, keys ? " and the keys" : "");
  return {};
}

// Collects records into the new database.
struct Filling {
  rt::KvStore& kv;
  base::Time now;
  std::vector<std::pair<std::string, std::string>> batch = {};
  std::int64_t revision = 1;

  base::Status add(std::string key, std::string value) {
    if (std::string_view(key) == "mrevision") {
      revision = std::max<std::int64_t>(std::strtoll(value.c_str(), nullptr, 10), 1);
      if (revision > kRevisionMax) return make_error(Code::kInvalid, base::format("its revision {} is none", value));
    }
    if (!key.starts_with('o') || key.size() > 511) return {};
    batch.emplace_back(std::move(key), std::move(value));
    return batch.size() < kRecordsPerCommit ? base::Status() : flush();
  }
  base::Status flush() {
    TRY_VOID(kv.commit([this](rt::KvWriter& writer) {
      for (const auto& [key, value] : batch) writer.put(key, value);
    }));
    batch.clear();
    return {};
  }
  base::Status finish() {
    TRY_VOID(flush());
    // Clients remember revisions from after the backup.
    const std::string text = std::to_string(store::revision_beyond(revision, now));
    return kv.commit([&text](rt::KvWriter& writer) {
      writer.put("mrevision", text);
      writer.put("mcompacted", text);
    });
  }
};

// Everything is written beside its place first, and read back. How many records are encrypted.
base::Result<std::size_t> fill(const std::string& path, const std::string& stage, std::size_t map_bytes) {
  const auto env = rt::make_real_env("restore");
  TRY(auto database, env->open_store(stage + "/objects", map_bytes));
  // Without keys, encrypted records are written as they are.
  store::SealedKv kv(std::move(database), {}, store::SealedKv::Missing::kPassOver);
  Filling filling{kv, env->now()};
  TRY_VOID(read_backup(path, [&](Frame type, std::string name, std::string content) -> base::Status {
    if (type == Frame::kRecord) return filling.add(std::move(name), std::move(content));
    if (!is_key_file(name))
      return make_error(Code::kInvalid, base::format("{}: it has a file {:?}, which is none of the keys", path, name));
    TRY_VOID(rt::make_folders(stage + "/keys", 0700));
    return rt::write_file(stage + "/keys/" + name, content, 0600);
  }));
  TRY_VOID(filling.finish());
  TRY(const auto store, store::Store::open(*env, kv));
  // The database had them when the backup was made. All else is worth having.
  for (const auto& record : store->broken())
    std::cerr << base::format("volcano restore: {}: {} cannot be read and is left out: {}\n", path, record.what,
                              record.why);
  TRY_VOID(store->remove_broken());
  return kv.passed_over();
}

base::Status restore(const std::string& data, const std::string& path) {
  for (const char* part : {"/objects", "/keys"})
    if (is_there(data + part))
      return make_error(Code::kAlreadyExists,
                        base::format("{}{} is there already; a backup is restored into a folder without them, and "
                                     "nothing was changed",
                                     data, part));
  TRY_VOID(read_backup(path, [](Frame, std::string, std::string) { return base::Status(); }));
  std::error_code error;
  const std::size_t bytes = static_cast<std::size_t>(std::filesystem::file_size(path, error));
  TRY(const std::string corrected, open_data_folder(data));
  if (!corrected.empty()) std::cerr << "volcano restore: " << corrected << "\n";
  const std::string stage = data + "/restoring";
  TRY_VOID(rt::remove_tree(stage));
  TRY_VOID(rt::make_folders(stage, 0700));
  const auto encrypted = fill(path, stage, std::max(kMapBytesMin, bytes * 4));
  if (!encrypted.ok()) {
    TRY_VOID(rt::remove_tree(stage));
    return encrypted.error();
  }
  // A backup without keys was made so on purpose.
  const bool has_keys = is_there(stage + "/keys");
  if (!has_keys) TRY_VOID(request_for_new_keys(data));
  // The objects last: a folder that has them is whole.
  for (const char* part : {"/keys", "/objects"}) {
    if (!is_there(stage + part)) continue;
    std::filesystem::rename(stage + part, data + part, error);
    if (error) return make_error(Code::kUnavailable, base::format("cannot make {}{}: {}", data, part, error.message()));
  }
  TRY_VOID(rt::remove_tree(stage));
  std::cout << base::format(
      "{} is restored into {}; start it with volcano up --data {}{}\n", path, data, data,
      *encrypted > 0 ? " --encryption-key-file FILE (the keys of then: it has encrypted Secrets)" : "");
  if (!has_keys)
    std::cout << "The backup has no keys: that start makes new ones, and refuses certificates, kubeconfigs and tokens "
                 "from before.\n";
  return {};
}

int run(const Arguments& arguments, bool restores) {
  const std::string name = restores ? "restore" : "backup";
  std::string data;
  bool keys = false;
  std::vector<base::Flag> flags{{"data", &data, "the folder that volcano up uses (default ~/.local/share/volcano)"}};
  if (!restores)
    flags.push_back({"keys", &keys, "also the keys of DATA/keys: whoever has the file may do everything then"});
  const std::string usage = base::format(
      "usage: volcano {} [flags] FILE\n\n{}\n\nflags:\n{}", name,
      restores ? "Restores a backup into a data folder that has no objects and no keys."
               : "Writes all objects, as they are at one moment, into FILE. The cluster may run meanwhile.",
      base::flags_help(flags));
  if (base::asks_for_help(arguments)) {
    std::cout << usage;
    return 0;
  }
  const auto words = base::parse_flags(flags, arguments);
  if (!words.ok() || words->rest.size() != 1) {
    std::cerr << (words.ok() ? usage : base::format("volcano {}: {}\n", name, words.error().message));
    return 2;
  }
  const std::string& file = words->rest.front();
  if (data.empty()) data = default_data_folder();
  const base::Status done = restores ? restore(data, file) : back_up(data, file, keys);
  if (done.ok()) return 0;
  std::cerr << base::format("volcano {}: {}\n", name, done.error().message);
  return 1;
}

}  // namespace

int run_backup(const Arguments& arguments) { return run(arguments, false); }
int run_restore(const Arguments& arguments) { return run(arguments, true); }

}  // namespace volcano_main
