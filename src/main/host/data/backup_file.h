// The file of a backup: records of the database, and files, each framed, under one running checksum.
//
//   "volcano-backup 1\n", then frames: type (1 byte), size of the name and of the content (4 bytes each, big endian),
//   name, content. Types: 'r' a record (name: its key), 'f' a file of DATA/keys, 'e' the end (content: the checksum, as
//   hex: SHA-256 of the checksum before and the frame, for each frame in turn).
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace volcano_main {

enum class Frame : char { kRecord = 'r', kFile = 'f' };

// Writes beside `path`, mode 0600; what is not finished is removed.
class BackupWriter {
 public:
  static base::Result<std::unique_ptr<BackupWriter>> create(const std::string& path);
  ~BackupWriter();

  base::Status add(Frame type, std::string_view name, std::string_view content);
  // Synced, and under its name.
  base::Status finish();

 private:
  BackupWriter() = default;
  base::Status put(char type, std::string_view name, std::string_view content);

  std::string path_;
  std::string temporary_;
  std::FILE* file_ = nullptr;
  std::string checksum_;
};

// Reads a file that may be anything. `take` is told of each frame, before the checksum is known: whoever acts on it
// reads the file once before for nothing but its checksum. An error of `take` ends it.
base::Status read_backup(const std::string& path,
                         const std::function<base::Status(Frame type, std::string name, std::string content)>& take);

}  // namespace volcano_main
