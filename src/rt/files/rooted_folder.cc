// Each step is taken from an open folder and never through a link, so that nothing can be exchanged between a check and
// its use.
#include "rt/files/rooted_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/format.h"

namespace rt {

namespace {

constexpr std::size_t kBlock = 512, kShortName = 100;

base::Error failed(const std::string& what, int error) {
  const base::Code code = error == ENOENT                      ? base::Code::kNotFound
                          : error == ENOTDIR || error == ELOOP ? base::Code::kInvalid
                                                               : base::Code::kUnavailable;
  return base::make_error(code, base::format("cannot read {:?}: {}", what, std::strerror(error)));
}

base::Error too_large(const std::string& what) { return base::make_error(base::Code::kTooLarge, what); }

// A header of the format "ustar".
std::string header(const std::string& name, char type, std::size_t size, const struct stat& facts) {
  std::string out(kBlock, '\0');
  const auto put = [&out](std::size_t at, const std::string& text) { out.replace(at, text.size(), text); };
  put(0, name.substr(0, kShortName));
  put(100, base::format("{:07o}", facts.st_mode & 0777));
  put(108, "0000000");
  put(116, "0000000");
  put(124, base::format("{:011o}", size));
  put(136, base::format("{:011o}", std::max<long>(facts.st_mtime, 0)));
  put(148, "        ");
  out[156] = type;
  put(257, std::string("ustar\0"
                       "00",
                       8));
  unsigned sum = 0;
  for (const char one : out) sum += static_cast<unsigned char>(one);
  put(148, base::format("{:06o}", sum) + std::string("\0 ", 2));
  return out;
}

class Tar {
 public:
  Tar(const std::string& folder, std::size_t bytes_max) : folder_(folder), bytes_max_(bytes_max) {}

  base::Status add_folder(int fd, const std::string& path, int depth) {
    if (depth > kFolderDepthMax)
      return too_large(base::format("{:?} is deeper than {} folders", folder_, kFolderDepthMax));
    TRY(const std::vector<std::string> names, names_in(fd));
    for (const std::string& name : names) TRY_VOID(add(fd, name, path + name, depth));
    return {};
  }

  std::string take() {
    out_.append(2 * kBlock, '\0');
    return std::move(out_);
  }

 private:
  base::Result<std::vector<std::string>> names_in(int fd) {
    std::vector<std::string> names;
    DIR* open = ::fdopendir(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (open == nullptr) return failed(folder_, errno);
    while (const dirent* one = ::readdir(open)) {
      const std::string name = one->d_name;
      if (name == "." || name == "..") continue;
      names.push_back(name);
      if (++entries_ > kFolderEntriesMax) break;
    }
    ::closedir(open);
    if (entries_ > kFolderEntriesMax)
      return too_large(base::format("{:?} has more than {} files", folder_, kFolderEntriesMax));
    std::ranges::sort(names);
    return names;
  }

  base::Status add(int parent, const std::string& name, const std::string& path, int depth) {
    const Descriptor seen(::openat(parent, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat facts {};
    if (!seen.is_open() || ::fstat(seen.get(), &facts) != 0) return {};  // gone meanwhile
    if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) return {};
    const Descriptor open(
        ::open(base::format("/proc/self/fd/{}", seen.get()).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!open.is_open()) return failed(path, errno);
    if (S_ISDIR(facts.st_mode)) {
      TRY_VOID(put(path + "/", '5', {}, facts));
      return add_folder(open.get(), path + "/", depth + 1);
    }
    std::string bytes;
    for (char buffer[65536]; bytes.size() <= bytes_max_;) {
      const ssize_t got = ::read(open.get(), buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return failed(path, errno);
      if (got == 0) break;
      bytes.append(buffer, static_cast<std::size_t>(got));
    }
    return put(path, '0', bytes, facts);
  }

  base::Status put(const std::string& name, char type, const std::string& bytes, const struct stat& facts) {
    if (out_.size() + bytes.size() + name.size() + 5 * kBlock > bytes_max_)
      return too_large(base::format("{:?} has more than {} bytes", folder_, bytes_max_));
    // A long name comes before, as a file of its own, as GNU's tar has it.
    if (name.size() > kShortName) {
      out_ += header("././@LongLink", 'L', name.size() + 1, facts);
      pad(name + '\0');
    }
    out_ += header(name, type, bytes.size(), facts);
    pad(bytes);
    return {};
  }

  void pad(const std::string& bytes) {
    out_ += bytes;
    out_.append((kBlock - bytes.size() % kBlock) % kBlock, '\0');
  }

  const std::string& folder_;
  const std::size_t bytes_max_;
  std::string out_;
  std::size_t entries_ = 0;
};

}  // namespace

base::Result<std::string> rooted_folder_as_tar(const RootedPath& folder, std::size_t bytes_max) {
  TRY(const Descriptor open, open_rooted_folder(folder));
  Tar tar(folder.path, bytes_max);
  TRY_VOID(tar.add_folder(open.get(), "", 1));
  return tar.take();
}

}  // namespace rt
