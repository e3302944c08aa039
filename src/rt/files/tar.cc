// Headers of the format "ustar".
#include "rt/files/tar.h"

#include <algorithm>
#include <utility>

#include "base/format.h"

namespace rt {

namespace {

constexpr std::size_t kBlock = 512, kShortName = 100;

std::string header(const std::string& name, char type, std::size_t size, const TarEntry& entry) {
  std::string out(kBlock, '\0');
  const auto put = [&out](std::size_t at, const std::string& text) { out.replace(at, text.size(), text); };
  put(0, name.substr(0, kShortName));
  put(100, base::format("{:07o}", entry.mode & 0777));
  put(108, "0000000");
  put(116, "0000000");
  put(124, base::format("{:011o}", size));
  put(136, base::format("{:011o}", std::max<std::int64_t>(entry.modified.ns / 1'000'000'000, 0)));
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

}  // namespace

base::Status Tar::add(const TarEntry& entry, const std::string& bytes) {
  const std::string& name = entry.name;
  if (out_.size() + bytes.size() + name.size() + 5 * kBlock > bytes_max_)
    return base::make_error(base::Code::kTooLarge, base::format("{:?} has more than {} bytes", what_, bytes_max_));
  // A long name comes before, as a file of its own, as GNU's tar has it.
  if (name.size() > kShortName) {
    out_ += header("././@LongLink", 'L', name.size() + 1, entry);
    append(name + '\0');
  }
  out_ += header(name, name.ends_with('/') ? '5' : '0', bytes.size(), entry);
  append(bytes);
  return {};
}

std::string Tar::take() {
  out_.append(2 * kBlock, '\0');
  return std::move(out_);
}

void Tar::append(const std::string& bytes) {
  out_ += bytes;
  out_.append((kBlock - bytes.size() % kBlock) % kBlock, '\0');
}

}  // namespace rt
