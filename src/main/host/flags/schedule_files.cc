// Which files does `volcano schedule` read, and what do they hold?
#include "main/host/flags/schedule_files.h"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "base/format.h"
#include "rt/files/bounded_files.h"
#include "rt/http/gzip.h"

namespace volcano_main {
namespace {

// The limit of a file, whose size its disk bounds; and of a pipe or a device, which may have no end.
constexpr std::size_t kFileBytesMax = std::size_t{8} << 30;
constexpr std::size_t kPipeBytesMax = std::size_t{1} << 30;
constexpr std::size_t kUnpackedBytesMax = std::size_t{8} << 30;

bool is_object_file(const std::string& name) {
  for (const char* ending : {".yaml", ".yml", ".json", ".jsonl"}) {
    if (name.ends_with(ending) || name.ends_with(std::string(ending) + ".gz")) return true;
  }
  return false;
}

base::Result<std::string> read_whole(const std::string& path) {
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(path, error);
  TRY(std::string data, rt::read_bounded_file(path, is_file ? kFileBytesMax : kPipeBytesMax, base::minutes(10)));
  if (!rt::is_gzip(data)) return data;
  auto unpacked = rt::gunzip(data, kUnpackedBytesMax);
  if (!unpacked.ok()) return base::within(unpacked.take_error(), path);
  return unpacked;
}

base::Result<std::string> read_standard_input() {
  std::string data;
  for (char buffer[65536]; std::cin.read(buffer, sizeof buffer), std::cin.gcount() > 0;) {
    data.append(buffer, static_cast<std::size_t>(std::cin.gcount()));
    if (data.size() > kPipeBytesMax)
      return base::make_error(base::Code::kTooLarge,
                              base::format("standard input has more than {} bytes", kPipeBytesMax));
  }
  return data;
}

}  // namespace

base::Result<std::vector<std::pair<std::string, std::string>>> read_object_files(const std::string& path) {
  std::vector<std::pair<std::string, std::string>> out;
  if (path == "-") {
    TRY(std::string data, read_standard_input());
    if (rt::is_gzip(data)) {
      TRY(data, rt::gunzip(data, kUnpackedBytesMax));
    }
    out.emplace_back("-", std::move(data));
    return out;
  }
  std::error_code error;
  std::vector<std::string> files;
  if (std::filesystem::is_directory(path, error)) {
    for (std::filesystem::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
      if (is_object_file(at->path().string())) files.push_back(at->path().string());
    if (error)
      return base::make_error(base::Code::kUnavailable,
                              base::format("cannot list folder {}: {}", path, error.message()));
    std::sort(files.begin(), files.end());
  } else {
    files.push_back(path);
  }
  for (const std::string& file : files) {
    TRY(std::string data, read_whole(file));
    out.emplace_back(file, std::move(data));
  }
  return out;
}

}  // namespace volcano_main
