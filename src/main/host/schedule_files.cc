// Which files does `volcano schedule` read, and what do they hold?
#include "main/host/schedule_files.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>

#include "rt/files.h"
#include "rt/gunzip.h"

namespace volcano_main {
namespace {

constexpr std::size_t kUnpackedBytesMax = std::size_t{8} << 30;

bool is_object_file(const std::string& name) {
  for (const char* ending : {".yaml", ".yml", ".json", ".jsonl"}) {
    if (name.ends_with(ending) || name.ends_with(std::string(ending) + ".gz")) return true;
  }
  return false;
}

base::Result<std::string> read_whole(const std::string& path) {
  TRY(std::string data, rt::read_file(path));
  if (!rt::is_gzip(data)) return data;
  auto unpacked = rt::gunzip(data, kUnpackedBytesMax);
  if (!unpacked.ok()) return base::within(unpacked.take_error(), path);
  return unpacked;
}

}  // namespace

base::Result<std::vector<std::pair<std::string, std::string>>> read_object_files(const std::string& path) {
  std::vector<std::pair<std::string, std::string>> out;
  if (path == "-") {
    std::string data((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
    if (rt::is_gzip(data)) {
      TRY(data, rt::gunzip(data, kUnpackedBytesMax));
    }
    out.emplace_back("-", std::move(data));
    return out;
  }
  std::error_code error;
  std::vector<std::string> files;
  if (std::filesystem::is_directory(path, error)) {
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
      if (is_object_file(entry.path().string())) files.push_back(entry.path().string());
    }
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
