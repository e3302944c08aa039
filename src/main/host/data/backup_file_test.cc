// Backups: what is written is read, and no damage goes unseen.
#include "main/host/data/backup_file.h"

#include <gtest/gtest.h>

#include "main/host/base/scratch_folder_for_tests.h"

namespace volcano_main {
namespace {

using Taken = std::vector<std::string>;

base::Result<Taken> taken_from(const std::string& path) {
  Taken all;
  const base::Status read = read_backup(path, [&](Frame type, std::string name, std::string content) {
    all.push_back(std::string(1, static_cast<char>(type)) + name + "=" + content);
    return base::Status();
  });
  if (!read.ok()) return read.error();
  return all;
}

void write_one(const std::string& path) {
  auto writer = BackupWriter::create(path);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->add(Frame::kRecord, "o/pods", std::string("a\0b", 3)).ok());
  ASSERT_TRUE((*writer)->add(Frame::kRecord, "", "").ok());
  ASSERT_TRUE((*writer)->add(Frame::kFile, "ca.key", "secret").ok());
  ASSERT_TRUE((*writer)->finish().ok());
}

TEST(BackupFile, what_is_written_is_read) {
  const ScratchFolder folder;
  write_one(folder.at("b"));
  const auto taken = taken_from(folder.at("b"));
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_EQ(*taken, (Taken{std::string("ro/pods=a\0b", 11), "r=", "fca.key=secret"}));
  EXPECT_EQ(std::filesystem::status(folder.at("b")).permissions(), std::filesystem::perms(0600));
}

TEST(BackupFile, an_unfinished_one_leaves_nothing) {
  const ScratchFolder folder;
  {
    auto writer = BackupWriter::create(folder.at("b"));
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->add(Frame::kRecord, "k", "v").ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.at("")));
}

TEST(BackupFile, every_cut_and_every_changed_byte_is_an_error) {
  const ScratchFolder folder;
  write_one(folder.at("b"));
  const std::string whole = folder.read("b");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    folder.write("cut", whole.substr(0, size));
    EXPECT_FALSE(taken_from(folder.at("cut")).ok()) << size;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    folder.write("changed", changed);
    EXPECT_FALSE(taken_from(folder.at("changed")).ok()) << at;
  }
  EXPECT_FALSE(taken_from(folder.at("missing")).ok());
}

TEST(BackupFile, an_error_of_the_reader_ends_it) {
  const ScratchFolder folder;
  write_one(folder.at("b"));
  int frames = 0;
  const base::Status read =
      read_backup(folder.at("b"), [&](Frame, const std::string&, const std::string&) -> base::Status {
        ++frames;
        return base::make_error(base::Code::kInvalid, "enough");
      });
  EXPECT_EQ(frames, 1);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("enough"), std::string::npos);
}

}  // namespace
}  // namespace volcano_main
