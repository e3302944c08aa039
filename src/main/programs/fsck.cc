// `volcano fsck DATA`: is everything in a data folder readable, and what can be kept of what is not.
#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "base/flags.h"
#include "base/format.h"
#include "base/number.h"
#include "base/time.h"
#include "main/host/data/data_folder.h"
#include "main/host/data/object_store.h"
#include "main/host/data/quarantine.h"
#include "main/programs/programs.h"
#include "rt/env.h"
#include "rt/files/files.h"
#include "rt/storage/kv.h"
#include "rt/storage/lmdb_file.h"
#include "store/store.h"

namespace volcano_main {
namespace {

using base::Result;

constexpr std::size_t kMapBytesMin = std::size_t{1} << 30;
constexpr std::size_t kRecordsPerCommit = 1000;

int failed(const base::Error& error) {
  std::cerr << "volcano fsck: " << error.message << "\n";
  return 1;
}

// Room for all that is there, and as much again for what changes.
std::size_t map_bytes_for(const std::string& folder) {
  std::error_code ignored;
  const auto bytes = std::filesystem::file_size(folder + "/data.mdb", ignored);
  return std::max(kMapBytesMin, ignored ? 0 : static_cast<std::size_t>(bytes) * 2);
}

// The highest revision that a record tells of; nonsense counts as none.
std::int64_t revision_in(std::string_view key, std::string_view value) {
  const auto big_endian = [](std::string_view bytes) {
    std::uint64_t number = 0;
    for (const char c : bytes.substr(0, 8)) number = number << 8 | static_cast<unsigned char>(c);
    return bytes.size() < 8 ? 0 : number;
  };
  std::uint64_t revision = 0;
  if (key == "mrevision") revision = base::parse_number<std::uint64_t>(value).value_or(0);
  if (key.starts_with('h')) revision = big_endian(key.substr(1));
  if (key.starts_with('o')) revision = big_endian(value);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
  return revision > kMost ? 0 : static_cast<std::int64_t>(revision);
}

// Copies the objects that can be read into a new database in `to`. History has holes now, and its watchers have to list
// anew; counting goes on beyond what was lost.
Result<rt::LmdbCheck> copy_readable(const std::string& from, rt::LmdbState state, const std::string& to) {
  TRY(const auto kv, rt::open_lmdb(to, map_bytes_for(from)));
  std::vector<std::pair<std::string, std::string>> batch;
  base::Status written;
  const auto flush = [&] {
    if (!written.ok() || batch.empty()) return;
    written = kv->commit([&batch](rt::KvWriter& writer) {
      for (const auto& [key, value] : batch) writer.put(key, value);
    });
    batch.clear();
  };
  std::int64_t highest = 1;
  TRY(rt::LmdbCheck copied,
      rt::check_lmdb_file(from + "/data.mdb", state, [&](std::string_view key, std::string_view value) {
        highest = std::max(highest, revision_in(key, value));
        if (key.starts_with('h') || key == "mrevision" || key == "mcompacted") return;
        batch.emplace_back(key, value);
        if (batch.size() >= kRecordsPerCommit) flush();
      }));
  const std::string next = std::to_string(store::revision_beyond(highest, rt::make_real_env("fsck")->now()));
  for (const char* key : {"mrevision", "mcompacted"}) batch.emplace_back(key, next);
  flush();
  if (!written.ok()) return written.take_error();
  return copied;
}

// The state to copy from: the newest one, unless nothing of it can be read.
rt::LmdbState best_state(const std::string& file, const rt::LmdbCheck& newest) {
  if (newest.records > 0) return rt::LmdbState::kNewest;
  const auto previous = rt::check_lmdb_file(file, rt::LmdbState::kPrevious);
  return previous.ok() && previous->records > 0 ? rt::LmdbState::kPrevious : rt::LmdbState::kNewest;
}

// Replaces a damaged database by what can be read of it; the damaged one stays beside it.
base::Status rebuild(const std::string& folder, const rt::LmdbCheck& newest) {
  const std::string fresh = folder + ".rebuilt";
  const rt::LmdbState state = best_state(folder + "/data.mdb", newest);
  TRY_VOID(rt::remove_tree(fresh));
  TRY(const rt::LmdbCheck copied, copy_readable(folder, state, fresh));
  if (copied.records == 0) {
    TRY_VOID(rt::remove_tree(fresh));
    return base::make_error(
        base::Code::kInternal,
        base::format("nothing of {} can be read: bring back a backup, or remove the whole data folder "
                     "to begin anew; nothing was changed",
                     folder));
  }
  std::string aside;
  for (int number = 1; aside.empty() || std::filesystem::exists(aside); ++number)
    aside = base::format("{}.damaged-{}", folder, number);
  // In one step where the file system can: without a folder the next start would make an empty cluster.
  std::error_code error;
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) {
    std::filesystem::rename(fresh, aside, error);
  } else {
    std::filesystem::rename(folder, aside, error);
    if (!error) std::filesystem::rename(fresh, folder, error);
  }
  if (error)
    return base::make_error(base::Code::kUnavailable, base::format("cannot rename {}: {}", folder, error.message()));
  std::cout << base::format("{} records were kept; the damaged database is in {}\n", copied.records, aside);
  if (state == rt::LmdbState::kPrevious)
    std::cout << "they are those of the last commit but one: the newest could not be read\n";
  return {};
}

// True if the file is whole, or is so after the repair.
Result<bool> check_file(const std::string& folder, bool repair) {
  TRY(const rt::LmdbCheck found, rt::check_lmdb_file(folder + "/data.mdb"));
  if (found.is_empty) {
    std::cout << base::format("{}/data.mdb is empty: bring back a backup, or remove the whole data folder\n", folder);
    return false;
  }
  for (const std::string& problem : found.problems) std::cout << folder << "/data.mdb: " << problem << "\n";
  if (found.problems.empty()) return true;
  std::cout << base::format("{} records can be read\n", found.records);
  if (!repair) return false;
  TRY_VOID(rebuild(folder, found));
  return true;
}

// The number of records that cannot be read; with `repair` they are set aside.
Result<std::size_t> check_objects(const std::string& data, bool repair, const std::string& key_file) {
  const auto env = rt::make_real_env("fsck");
  const std::string folder = data + "/objects";
  TRY(const auto kv,
      open_objects(*env, data, map_bytes_for(folder), key_file,
                   key_file.empty() ? store::SealedKv::Missing::kPassOver : store::SealedKv::Missing::kRefuse));
  TRY(const std::size_t passed_over, kv->passed_over());
  if (passed_over > 0 && key_file.empty())
    std::cout << base::format("{} encrypted records were not looked into: --encryption-key-file was not given\n",
                              passed_over);
  TRY(const auto store, store::Store::open(*env, *kv));
  const std::size_t count = store->broken().size();
  for (const store::Broken& record : store->broken())
    std::cout << base::format("{} cannot be read: {}\n", record.what, record.why);
  if (repair && count > 0) {
    // History goes with a repair, and that of Secrets was not read.
    if (passed_over > 0)
      return base::make_error(
          base::Code::kInvalid,
          "--repair: there are encrypted records, so that it needs --encryption-key-file; nothing was changed");
    TRY(const auto lines, set_aside_broken(*store, data + "/quarantine", env->now()));
    for (const std::string& line : lines) std::cout << line << "\n";
  }
  return count;
}

}  // namespace

int run_fsck(const Arguments& arguments) {
  bool repair = false;
  std::string key_file;
  const std::vector<base::Flag> flags{
      {"repair", &repair, "set aside what cannot be read, and rebuild a damaged database from what can"},
      {"encryption-key-file", &key_file, "the keys that volcano up was given, so that Secrets are checked, too"}};
  const std::string usage =
      "usage: volcano fsck [flags] DATA\n\nChecks the data folder of a cluster that is not running. Ends with 0 if all "
      "is "
      "well or was mended, else 1.\n\nflags:\n" +
      base::flags_help(flags);
  if (base::asks_for_help(arguments)) {
    std::cout << usage;
    return 0;
  }
  const auto words = base::parse_flags(flags, arguments);
  if (!words.ok() || words->rest.size() != 1) {
    std::cerr << (words.ok() ? usage : "volcano fsck: " + words.error().message + "\n");
    return 2;
  }
  const std::string data = words->rest.front();
  auto lock = rt::lock_store(data + "/objects");
  if (!lock.ok()) return failed(lock.error());
  if (repair) {
    const auto corrected = open_data_folder(data);
    if (!corrected.ok()) return failed(corrected.error());
    if (!corrected->empty()) std::cerr << "volcano fsck: " << *corrected << "\n";
  }
  const auto whole = check_file(data + "/objects", repair);
  if (!whole.ok()) return failed(whole.error());
  if (!*whole) return 1;
  lock->reset();
  const auto broken = check_objects(data, repair, key_file);
  if (!broken.ok()) return failed(broken.error());
  if (*broken > 0 && !repair) return 1;
  std::cout << (*broken > 0 ? "mended\n" : "all is well\n");
  return 0;
}

}  // namespace volcano_main
