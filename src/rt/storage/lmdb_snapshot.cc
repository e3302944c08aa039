// One read transaction of LMDB, whose lock file is shared with the writer.
#include "rt/storage/lmdb_snapshot.h"

#include <lmdb.h>

#include <filesystem>

#include "base/format.h"
#include "rt/storage/kv.h"
#include "rt/storage/lmdb_file.h"

namespace rt {
namespace {

using base::Code;
using base::make_error;

base::Status read_all(MDB_env* env, const std::function<bool(std::string_view, std::string_view)>& visit) {
  const auto failed = [](int code) {
    return make_error(Code::kUnavailable, base::format("cannot read the database: {}", mdb_strerror(code)));
  };
  MDB_txn* transaction = nullptr;
  if (const int code = mdb_txn_begin(env, nullptr, MDB_RDONLY, &transaction)) return failed(code);
  MDB_dbi table = 0;
  MDB_cursor* cursor = nullptr;
  int code = mdb_dbi_open(transaction, nullptr, 0, &table);
  if (!code) code = mdb_cursor_open(transaction, table, &cursor);
  const auto view = [](const MDB_val& value) {
    return std::string_view(static_cast<const char*>(value.mv_data), value.mv_size);
  };
  MDB_val key{}, value{};
  while (!code && !(code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)))
    if (!visit(view(key), view(value))) break;
  if (cursor) mdb_cursor_close(cursor);
  mdb_txn_abort(transaction);
  return code && code != MDB_NOTFOUND ? base::Status(failed(code)) : base::Status();
}

}  // namespace

base::Status scan_lmdb_snapshot(const std::string& path,
                                const std::function<bool(std::string_view, std::string_view)>& visit) {
  std::error_code ignored;
  if (!std::filesystem::exists(path + "/data.mdb", ignored))
    return make_error(Code::kNotFound, base::format("there is no database in {}", path));
  const auto lock = lock_store(path);  // not held: somebody writes, and has looked through the file
  if (lock.ok()) {
    TRY(const LmdbCheck found, check_lmdb_file(path + "/data.mdb"));
    if (found.is_empty || !found.problems.empty())
      return make_error(Code::kInvalid, base::format("the database {} is damaged: {}; see volcano fsck", path,
                                                     found.is_empty ? "it is empty" : found.problems.front()));
  } else if (lock.error().code != Code::kConflict) {
    return lock.error();
  }
  MDB_env* env = nullptr;
  int code = mdb_env_create(&env);
  if (!code) code = mdb_env_open(env, path.c_str(), MDB_RDONLY | MDB_NOTLS, 0600);
  if (code) {
    if (env) mdb_env_close(env);
    return make_error(Code::kUnavailable, base::format("cannot open the database {}: {}", path, mdb_strerror(code)));
  }
  int dead = 0;
  mdb_reader_check(env, &dead);  // one that was killed would hold its pages for ever
  const base::Status read = read_all(env, visit);
  mdb_env_close(env);
  return read;
}

}  // namespace rt
