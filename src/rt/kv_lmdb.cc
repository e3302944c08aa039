// LMDB behind KvStore: synced transactions, a lock against a second process, errors that name the path.
#include <fcntl.h>
#include <lmdb.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "rt/files.h"
#include "rt/kv.h"

namespace rt {
namespace {

using base::Code;
using base::make_error;

constexpr std::size_t kLittleSpaceBytes = std::size_t{4} << 20;

MDB_val value_of(std::string_view bytes) { return {bytes.size(), const_cast<char*>(bytes.data())}; }
std::string_view view_of(const MDB_val& value) { return {static_cast<const char*>(value.mv_data), value.mv_size}; }

class Lmdb : public KvStore {
 public:
  Lmdb(std::string path, MDB_env* env, MDB_dbi table, int lock)
      : path_(std::move(path)), env_(env), table_(table), lock_(lock) {}
  ~Lmdb() override {
    mdb_env_close(env_);
    ::close(lock_);
  }

  base::Status commit(const std::function<void(KvWriter&)>& changes) override {
    MDB_txn* transaction = nullptr;
    if (const int code = mdb_txn_begin(env_, nullptr, 0, &transaction)) return failed("begin a write in", code);
    Writer writer(transaction, table_);
    changes(writer);
    if (writer.code()) {
      mdb_txn_abort(transaction);
      return failed("write to", writer.code());
    }
    if (const int code = mdb_txn_commit(transaction)) return failed("commit to", code);
    return {};
  }

  base::Status scan(std::string_view begin, std::string_view end,
                    const std::function<bool(std::string_view, std::string_view)>& visit) const override {
    MDB_txn* transaction = nullptr;
    if (const int code = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &transaction)) return failed("read", code);
    MDB_cursor* cursor = nullptr;
    int code = mdb_cursor_open(transaction, table_, &cursor);
    if (!code) {
      MDB_val key = value_of(begin);
      MDB_val value{};
      code = mdb_cursor_get(cursor, &key, &value, begin.empty() ? MDB_FIRST : MDB_SET_RANGE);
      while (!code && (end.empty() || view_of(key) < end) && visit(view_of(key), view_of(value)))
        code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
      mdb_cursor_close(cursor);
    }
    mdb_txn_abort(transaction);
    if (code && code != MDB_NOTFOUND) return failed("read", code);
    return {};
  }

 private:
  class Writer : public KvWriter {
   public:
    Writer(MDB_txn* transaction, MDB_dbi table) : transaction_(transaction), table_(table) {}
    void put(std::string_view key, std::string_view value) override {
      if (code_) return;
      MDB_val k = value_of(key);
      MDB_val v = value_of(value);
      code_ = mdb_put(transaction_, table_, &k, &v, 0);
    }
    void erase(std::string_view key) override {
      if (code_) return;
      MDB_val k = value_of(key);
      const int code = mdb_del(transaction_, table_, &k, nullptr);
      if (code != MDB_NOTFOUND) code_ = code;
    }
    int code() const { return code_; }

   private:
    MDB_txn* transaction_;
    MDB_dbi table_;
    int code_ = 0;
  };

  base::Error failed(std::string_view what, int code) const {
    // A write that the disk took only in part is reported as EIO; what the operator can act on is the full disk.
    struct statvfs disk {};
    const bool full =
        code == EIO && statvfs(path_.c_str(), &disk) == 0 && disk.f_bavail * disk.f_frsize < kLittleSpaceBytes;
    return make_error(Code::kUnavailable,
                      base::format("cannot {} the database {}: {}", what, path_, mdb_strerror(full ? ENOSPC : code)));
  }

  std::string path_;
  MDB_env* env_;
  MDB_dbi table_;
  int lock_;
};

}  // namespace

base::Result<std::unique_ptr<KvStore>> open_lmdb(const std::string& path, std::size_t map_bytes_max) {
  TRY_VOID(make_folders(path, 0700));
  const std::string lock_path = path + "/lock";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0)
    return make_error(Code::kUnavailable, base::format("cannot open {}: {}", lock_path, std::strerror(errno)));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock);
    return make_error(Code::kConflict, base::format("the data in {} is in use by another process", path));
  }
  MDB_env* env = nullptr;
  MDB_txn* transaction = nullptr;
  MDB_dbi table = 0;
  int code = mdb_env_create(&env);
  if (!code) code = mdb_env_set_mapsize(env, map_bytes_max);
  if (!code) code = mdb_env_open(env, path.c_str(), MDB_NOTLS, 0600);
  if (!code) code = mdb_txn_begin(env, nullptr, 0, &transaction);
  if (!code) code = mdb_dbi_open(transaction, nullptr, 0, &table);
  if (!code)
    code = mdb_txn_commit(transaction);
  else if (transaction)
    mdb_txn_abort(transaction);
  if (code) {
    if (env) mdb_env_close(env);
    ::close(lock);
    return make_error(Code::kUnavailable, base::format("cannot open the database {}: {}", path, mdb_strerror(code)));
  }
  return std::unique_ptr<KvStore>(std::make_unique<Lmdb>(path, env, table, lock));
}

}  // namespace rt
