// Frames in and out.
#include "main/host/data/backup_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "rt/tls/tls.h"

namespace volcano_main {
namespace {

using base::Code;
using base::make_error;

constexpr std::string_view kMagic = "volcano-backup 1\n";
constexpr std::size_t kNameBytesMax = 1024;                      // keys of LMDB have 511
constexpr std::size_t kContentBytesMax = std::size_t{16} << 20;  // objects have 1.5 MiB
constexpr char kEnd = 'e';

std::string size_bytes(std::size_t size) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift & 0xff);
  return out;
}

std::size_t size_from(std::string_view bytes) {
  std::size_t size = 0;
  for (const char c : bytes) size = size << 8 | static_cast<unsigned char>(c);
  return size;
}

base::Error failed(std::string_view what, const std::string& path) {
  return make_error(Code::kUnavailable, base::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

struct Closed {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// A backup is read twice, and a pipe without a writer would be waited for.
base::Result<std::unique_ptr<std::FILE, Closed>> open_regular(const std::string& path) {
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (number < 0) return failed("open", path);
  std::unique_ptr<std::FILE, Closed> file(::fdopen(number, "rb"));
  struct stat facts {};
  if (::fstat(number, &facts) == 0 && S_ISREG(facts.st_mode)) return file;
  return make_error(Code::kInvalid, base::format("cannot read {}: it is not an ordinary file", path));
}

bool read_exactly(std::FILE* file, std::string& out, std::size_t bytes) {
  out.resize(bytes);
  return std::fread(out.data(), 1, bytes, file) == bytes;
}

}  // namespace

base::Result<std::unique_ptr<BackupWriter>> BackupWriter::create(const std::string& path) {
  auto writer = std::unique_ptr<BackupWriter>(new BackupWriter());
  writer->path_ = path;
  // The name is this process's alone: two that write to one name would mix their bytes, and a pipe would be waited for.
  writer->temporary_ = base::format("{}.new-{}", path, ::getpid());
  const std::string& temporary = writer->temporary_;
  ::unlink(temporary.c_str());
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return failed("create", std::exchange(writer->temporary_, {}));
  ::fchmod(file, 0600);
  writer->file_ = ::fdopen(file, "wb");
  if (std::fwrite(kMagic.data(), 1, kMagic.size(), writer->file_) != kMagic.size()) return failed("write", temporary);
  return writer;
}

BackupWriter::~BackupWriter() {
  if (!file_) return;
  std::fclose(file_);
  ::unlink(temporary_.c_str());
}

base::Status BackupWriter::put(char type, std::string_view name, std::string_view content) {
  std::string frame(1, type);
  frame += size_bytes(name.size());
  frame += size_bytes(content.size());
  frame += name;
  frame += content;
  if (std::fwrite(frame.data(), 1, frame.size(), file_) != frame.size()) return failed("write", temporary_);
  checksum_ = rt::sha256_hex(checksum_ + frame);
  return {};
}

base::Status BackupWriter::add(Frame type, std::string_view name, std::string_view content) {
  if (name.size() > kNameBytesMax || content.size() > kContentBytesMax)
    return make_error(Code::kTooLarge, base::format("a record of {} bytes is too large for a backup", content.size()));
  return put(static_cast<char>(type), name, content);
}

base::Status BackupWriter::finish() {
  const std::string checksum = checksum_;
  TRY_VOID(put(kEnd, "", checksum));
  if (std::fflush(file_) != 0 || ::fsync(::fileno(file_)) != 0) return failed("write", temporary_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return failed("rename", temporary_);
  std::fclose(std::exchange(file_, nullptr));
  return {};
}

base::Status read_backup(const std::string& path,
                         const std::function<base::Status(Frame, std::string, std::string)>& take) {
  TRY(const auto file, open_regular(path));
  const auto wrong = [&path](std::string_view why) {
    return make_error(Code::kInvalid, base::format("{}: {}", path, why));
  };
  std::string head, name, content, checksum;
  if (!read_exactly(file.get(), head, kMagic.size()) || head != kMagic) return wrong("it is not a backup of volcano");
  for (;;) {
    if (!read_exactly(file.get(), head, 9)) return wrong("it is cut short");
    const std::size_t name_size = size_from(std::string_view(head).substr(1, 4));
    const std::size_t content_size = size_from(std::string_view(head).substr(5, 4));
    if (name_size > kNameBytesMax || content_size > kContentBytesMax)
      return wrong("it is damaged: a size is too large");
    if (!read_exactly(file.get(), name, name_size) || !read_exactly(file.get(), content, content_size))
      return wrong("it is cut short");
    if (head[0] == kEnd) break;
    if (head[0] != static_cast<char>(Frame::kRecord) && head[0] != static_cast<char>(Frame::kFile))
      return wrong("it is damaged: a frame is of no known type");
    checksum = rt::sha256_hex(checksum + head + name + content);
    TRY_VOID(take(static_cast<Frame>(head[0]), name, content));
  }
  if (content != checksum) return wrong("it is damaged: its checksum differs");
  if (std::fgetc(file.get()) != EOF) return wrong("it is damaged: something follows its end");
  return {};
}

}  // namespace volcano_main
