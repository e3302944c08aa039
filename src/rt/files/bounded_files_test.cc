// Files that are none, or have no end.
#include "rt/files/bounded_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "rt/files/files.h"

namespace rt {
namespace {

struct Folder {
  std::string path = ::testing::TempDir() + "bounded_files_test";
  Folder() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string at(const char* name) const { return path + "/" + name; }
};

constexpr base::Duration kNone{};

TEST(BoundedFiles, reads_a_file_of_the_most_bytes_and_no_larger_one) {
  const Folder folder;
  ASSERT_TRUE(write_file(folder.at("f"), "12345", 0600).ok());
  EXPECT_EQ(*read_bounded_file(folder.at("f"), 5, kNone), "12345");
  const auto more = read_bounded_file(folder.at("f"), 4, kNone);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().message, "cannot read " + folder.at("f") + ": it has more than 4 bytes");
}

TEST(BoundedFiles, says_what_is_no_file) {
  const Folder folder;
  ASSERT_EQ(::mkfifo(folder.at("pipe").c_str(), 0600), 0);
  const struct {
    std::string path, reason;
    base::Duration patience;
  } rows[] = {
      {folder.at("gone"), "No such file or directory", kNone},
      {folder.path, "Is a directory", kNone},
      {folder.at("pipe"), "it is not an ordinary file", kNone},
      {"/dev/zero", "it is not an ordinary file", kNone},
      {"/dev/zero", "it has more than 100000 bytes", base::seconds(10)},
      {folder.at("pipe"), "its end does not come", base::milliseconds(20)},
  };
  for (const auto& row : rows) {
    const auto read = read_bounded_file(row.path, 100'000, row.patience);
    ASSERT_FALSE(read.ok()) << row.path;
    EXPECT_TRUE(read.error().message.ends_with(row.path + ": " + row.reason)) << read.error().message;
  }
}

TEST(BoundedFiles, reads_a_pipe_whose_writer_comes_late) {
  const Folder folder;
  ASSERT_EQ(::mkfifo(folder.at("pipe").c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(folder.at("pipe")) << "some text"; });
  const auto read = read_bounded_file(folder.at("pipe"), 100, base::seconds(10));
  writer.join();
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, "some text");
}

}  // namespace
}  // namespace rt
