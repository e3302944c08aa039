// Walking and watching.
#include "node/os/images/image_tree.h"

#include <fts.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/format.h"
#include "node/machine/container_text.h"

namespace node {

using base::Code;
using base::make_error;

namespace {

// Enough for what a machine writes beside its images, however large the disk.
constexpr std::int64_t kFreeEnough = std::int64_t{4} << 30;

DiskRoom room_at(const std::string& folder) {
  struct statvfs facts {};
  if (::statvfs(folder.c_str(), &facts) != 0) return {};
  return room_of(facts);
}

}  // namespace

DiskRoom room_of(const struct statvfs& facts) {
  const auto bytes = [&](auto blocks) {
    return static_cast<std::int64_t>(blocks) * static_cast<std::int64_t>(facts.f_frsize);
  };
  return {bytes(facts.f_bavail), bytes(facts.f_blocks) - bytes(facts.f_bfree) + bytes(facts.f_bavail),
          static_cast<std::int64_t>(facts.f_favail), static_cast<std::int64_t>(facts.f_files)};
}

base::Result<std::int64_t> inspect_image_tree(const std::string& root) {
  std::string start = root;
  char* const starts[] = {start.data(), nullptr};
  FTS* const walk = ::fts_open(starts, FTS_PHYSICAL | FTS_XDEV, nullptr);
  if (walk == nullptr) return make_error(Code::kUnavailable, base::format("{}: {}", root, std::strerror(errno)));
  std::int64_t bytes = 0, entries = 0;
  base::Status fine;
  while (fine.ok()) {
    const FTSENT* const entry = ::fts_read(walk);
    if (entry == nullptr) break;
    if (entry->fts_info == FTS_DP) continue;
    const std::string inside(
        std::string_view(entry->fts_path).substr(std::min(root.size() + 1, std::strlen(entry->fts_path))));
    if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS) {
      fine = make_error(Code::kInvalid,
                        base::format("the image's {}: {}", reason_text(inside), std::strerror(entry->fts_errno)));
    } else if (++entries > kImageEntriesMax) {
      fine =
          make_error(Code::kTooLarge, base::format("the image has more than {} files", std::int64_t{kImageEntriesMax}));
    } else {
      const struct stat& facts = *entry->fts_statp;
      bytes += static_cast<std::int64_t>(facts.st_blocks) * 512;
      if (!S_ISCHR(facts.st_mode) && !S_ISBLK(facts.st_mode)) continue;
      if (!inside.starts_with("dev/") || ::unlink(entry->fts_accpath) != 0)
        fine = make_error(Code::kInvalid, base::format("the image's {} is a device", reason_text(inside)));
    }
  }
  ::fts_close(walk);
  if (!fine.ok()) return fine.error();
  return bytes;
}

base::Status check_room(const DiskRoom& before, const DiskRoom& now, std::int64_t bytes_max) {
  if (before.free - now.free > bytes_max)
    return make_error(Code::kTooLarge, base::format("the image takes more than {} MiB", bytes_max >> 20));
  if (const std::int64_t kept = std::min(now.total / 20, kFreeEnough); now.free < kept)
    return make_error(Code::kTooLarge, base::format("the image does not fit: {} MiB of the disk stay free, {} MiB are",
                                                    kept >> 20, now.free >> 20));
  // Files without content take no room, and a disk has so many of them.
  if (before.free_files - now.free_files > kImageEntriesMax)
    return make_error(Code::kTooLarge,
                      base::format("the image has more than {} files", std::int64_t{kImageEntriesMax}));
  if (now.free_files < now.files / 20)
    return make_error(Code::kTooLarge, "the image does not fit: a twentieth of the disk's files stays free");
  return {};
}

SpaceGuard::SpaceGuard(std::string folder, std::int64_t bytes_max)
    : folder_(std::move(folder)), bytes_max_(bytes_max), at_start_(room_at(folder_)) {}

base::Status SpaceGuard::check() const { return check_room(at_start_, room_at(folder_), bytes_max_); }

base::Status StallGuard::check(std::int64_t bytes, base::Duration uptime) {
  if (!bytes_ || bytes - *bytes_ >= bytes_min_) {
    bytes_ = bytes;
    since_ = uptime;
  }
  if (uptime - since_ < patience_) return {};
  const std::string time = base::format_go_duration(patience_);
  if (bytes <= *bytes_) return make_error(Code::kTimeout, base::format("nothing has come for {}", time));
  return make_error(Code::kTimeout, base::format("no more than {} bytes have come in {}", bytes - *bytes_, time));
}

std::int64_t bytes_below(const std::string& folder) {
  std::int64_t bytes = 0;
  std::error_code error;
  for (auto entry = std::filesystem::recursive_directory_iterator(folder, error);
       !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code gone;  // files are renamed meanwhile
    if (const auto size = entry->file_size(gone); !gone) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

}  // namespace node
