// LMDB behind KvStore: synced transactions, a lock against a second process, room kept for deletions, errors that name
// the path.
#include <fcntl.h>
#include <lmdb.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/format.h"
#include "base/split.h"
#include "rt/files/files.h"
#include "rt/storage/kv.h"
#include "rt/storage/lmdb_file.h"

namespace rt {
namespace {

using base::Code;
using base::make_error;

constexpr std::size_t kLittleSpaceBytes = std::size_t{4} << 20;
// A deletion writes the pages from the root to the record anew, and its history: some thousand fit.
constexpr std::size_t kReserveBytes = std::size_t{8} << 20;
constexpr auto kLockWaitMax = std::chrono::seconds(3);
constexpr auto kLockPause = std::chrono::milliseconds(20);
constexpr auto kPagesStay = std::chrono::seconds(1);

MDB_val value_of(std::string_view bytes) { return {bytes.size(), const_cast<char*>(bytes.data())}; }
std::string_view view_of(const MDB_val& value) { return {static_cast<const char*>(value.mv_data), value.mv_size}; }

// A file that only holds room on the disk, given back when a deletion needs it.
class Reserve {
 public:
  explicit Reserve(std::string path) : path_(std::move(path)) {}

  // True if the room is held after the call.
  bool hold() {
    if (held_) return true;
    const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return false;
    // EOPNOTSUPP and the like: a file system that cannot hold room keeps none.
    const int code = ::posix_fallocate(file, 0, static_cast<off_t>(kReserveBytes));
    held_ = code != ENOSPC && code != EDQUOT;
    if (!held_) [[maybe_unused]]
      const int cut = ::ftruncate(file, 0);
    ::close(file);
    return held_;
  }
  // True if there was something to give.
  bool give_back() {
    ::unlink(path_.c_str());
    return std::exchange(held_, false);
  }

 private:
  std::string path_;
  bool held_ = false;
};

struct MappedFile {
  void* begin = nullptr;
  std::size_t bytes = 0;  // 0: it is not mapped
};

// The place where this process has the file mapped, as the kernel says it: LMDB does not.
MappedFile mapped_file(const std::string& path) {
  std::error_code none;
  const std::string resolved = std::filesystem::canonical(path, none);
  const auto maps = read_file("/proc/self/maps");
  if (!maps.ok() || none) return {};
  for (const std::string_view line : base::split(*maps, '\n')) {
    if (!line.ends_with(" " + resolved)) continue;
    std::uintptr_t begin = 0, end = 0;
    const auto first = std::from_chars(line.data(), line.data() + line.size(), begin, 16);
    if (first.ec != std::errc() || first.ptr == line.data() + line.size()) continue;
    if (std::from_chars(first.ptr + 1, line.data() + line.size(), end, 16).ec != std::errc() || end <= begin) continue;
    return {reinterpret_cast<void*>(begin), end - begin};  // NOLINT(performance-no-int-to-ptr)
  }
  return {};
}

class FileLock : public StoreLock {
 public:
  explicit FileLock(int file) : file_(file) {}
  ~FileLock() override { ::close(file_); }

 private:
  int file_;
};

class Lmdb : public KvStore {
 public:
  Lmdb(std::string path, MDB_env* env, MDB_dbi table, std::unique_ptr<StoreLock> lock, std::size_t map_bytes_max)
      : path_(std::move(path)),
        env_(env),
        table_(table),
        lock_(std::move(lock)),
        map_bytes_max_(map_bytes_max),
        reserve_(path_ + "/reserve") {
    reserve_.hold();
  }
  ~Lmdb() override { mdb_env_close(env_); }

  // Only while the room for deletions is there: what fills a disk must not take that too.
  base::Status commit(const std::function<void(KvWriter&)>& changes) override {
    if (!reserve_.hold()) return failed("write to", ENOSPC);
    if (std::exchange(map_is_larger_, false)) mdb_env_set_mapsize(env_, map_bytes_max_);
    Attempt attempt = try_commit(changes);
    // Pages that a reader of another process held when it was killed are free again.
    if (int dead = 0; attempt.code == MDB_MAP_FULL && mdb_reader_check(env_, &dead) == 0 && dead > 0)
      attempt = try_commit(changes);
    let_pages_go_now_and_then();
    return attempt.code ? base::Status(failed(attempt.what, attempt.code)) : base::Status();
  }

  base::Status commit_with_reserve(const std::function<void(KvWriter&)>& changes) override {
    Attempt attempt = try_commit(changes);
    if (attempt.code == MDB_MAP_FULL && !map_is_larger_) {
      map_is_larger_ = mdb_env_set_mapsize(env_, map_bytes_max_ + kReserveBytes) == 0;
      attempt = try_commit(changes);
    }
    if (is_full(attempt.code) && reserve_.give_back()) attempt = try_commit(changes);
    let_pages_go_now_and_then();
    return attempt.code ? base::Status(failed(attempt.what, attempt.code)) : base::Status();
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
    let_pages_go();
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

  // LMDB reads and writes through a map of its file. Served values are kept as objects, so that few pages are looked at
  // twice: they are the kernel's to keep, and are not counted as memory of this process. A page that is looked at again
  // costs a minor fault.
  void let_pages_go() const {
    const MappedFile map = mapped_file(path_ + "/data.mdb");
    if (map.bytes > 0) ::madvise(map.begin, map.bytes, MADV_DONTNEED);
  }
  void let_pages_go_now_and_then() {
    const auto now = std::chrono::steady_clock::now();
    if (now - pages_went_ < kPagesStay) return;
    pages_went_ = now;
    let_pages_go();
  }

  struct Attempt {
    const char* what = "";
    int code = 0;  // 0: committed
  };

  Attempt try_commit(const std::function<void(KvWriter&)>& changes) {
    MDB_txn* transaction = nullptr;
    if (const int code = mdb_txn_begin(env_, nullptr, 0, &transaction)) return {"begin a write in", code};
    Writer writer(transaction, table_);
    changes(writer);
    if (writer.code()) {
      mdb_txn_abort(transaction);
      return {"write to", writer.code()};
    }
    return {"commit to", mdb_txn_commit(transaction)};
  }

  // A write that the disk took only in part is reported as EIO; what the operator can act on is the full disk.
  bool is_full(int code) const {
    struct statvfs disk {};
    return code == ENOSPC || code == EDQUOT ||
           (code == EIO && statvfs(path_.c_str(), &disk) == 0 && disk.f_bavail * disk.f_frsize < kLittleSpaceBytes);
  }

  base::Error failed(std::string_view what, int code) const {
    const std::string why =
        code == MDB_MAP_FULL
            ? base::format("its {} MiB (--storage-gib) are used up; deletions still go through", map_bytes_max_ >> 20)
        : is_full(code) ? std::string(std::strerror(ENOSPC)) + "; deletions still go through"
                        : std::string(mdb_strerror(code));
    base::Error error = make_error(Code::kUnavailable, base::format("cannot {} the database {}: {}", what, path_, why));
    error.retry_after_seconds = 1;
    return error;
  }

  std::string path_;
  MDB_env* env_;
  MDB_dbi table_;
  std::unique_ptr<StoreLock> lock_;  // let go after the database was closed
  std::size_t map_bytes_max_;
  bool map_is_larger_ = false;  // by what is kept for deletions
  std::chrono::steady_clock::time_point pages_went_ = std::chrono::steady_clock::now();
  Reserve reserve_;
};

base::Error damaged(const std::string& path, const std::string& what) {
  return make_error(
      Code::kInternal,
      base::format("the database {} is damaged: {}; nothing was changed. `volcano fsck` on the data folder "
                   "says what can still be read and, with --repair, keeps that",
                   path, what));
}

// `existed`: an empty or missing file is damage then, and a beginning else.
base::Status check_before_opening(const std::string& path, bool existed) {
  auto checked = check_lmdb_file(path + "/data.mdb");
  if (!checked.ok() && checked.error().code == Code::kNotFound)
    return existed ? base::Status(damaged(path, "its file data.mdb is missing")) : base::Status();
  if (!checked.ok()) return checked.take_error();
  if (checked->is_empty) return existed ? base::Status(damaged(path, "its file data.mdb is empty")) : base::Status();
  if (checked->problems.empty()) return {};
  std::string what = checked->problems.front();
  if (checked->problems.size() > 1) what += base::format(" (and {} more)", checked->problems.size() - 1);
  return damaged(path, what);
}

}  // namespace

base::Result<std::unique_ptr<StoreLock>> lock_store(const std::string& path) {
  const std::string lock_path = path + "/lock";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0)
    return make_error(Code::kUnavailable, base::format("cannot open {}: {}", lock_path, std::strerror(errno)));
  auto held = std::make_unique<FileLock>(lock);
  const auto end = std::chrono::steady_clock::now() + kLockWaitMax;
  while (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() > end)
      return make_error(Code::kConflict, base::format("the data in {} is in use by another process", path));
    std::this_thread::sleep_for(kLockPause);
  }
  return std::unique_ptr<StoreLock>(std::move(held));
}

base::Result<std::unique_ptr<KvStore>> open_lmdb(const std::string& path, std::size_t map_bytes_max) {
  TRY_VOID(make_folders(path, 0700));
  TRY(auto lock, lock_store(path));
  const std::string marker = path + "/format";  // there once a database was
  const bool existed = read_file(marker).ok();
  TRY_VOID(check_before_opening(path, existed));
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
    return make_error(Code::kUnavailable, base::format("cannot open the database {}: {}", path, mdb_strerror(code)));
  }
  auto opened = std::make_unique<Lmdb>(path, env, table, std::move(lock), map_bytes_max);
  if (!existed) TRY_VOID(write_file(marker, "1\n", 0600));
  return std::unique_ptr<KvStore>(std::move(opened));
}

}  // namespace rt
