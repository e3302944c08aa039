// Folders that strangers write, as a tar.
#include "rt/files/rooted_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "rt/files/files.h"

namespace rt {
namespace {

TEST(RootedFolder, IsATarOfItsFilesWithoutLinks) {
  char name[] = "/tmp/volcano-rt-test.XXXXXX";
  const std::string root = ::mkdtemp(name), longer(120, 'n');
  ASSERT_TRUE(make_folders(root + "/a/b/c", 0755).ok());
  ASSERT_TRUE(write_file(root + "/a/one", "1", 0600).ok());
  ASSERT_TRUE(write_file(root + "/a/b/" + longer, std::string(600, 'x'), 0600).ok());
  ASSERT_TRUE(write_file(root + "/secret", "not this", 0600).ok());
  ASSERT_EQ(::symlink("/secret", (root + "/a/link").c_str()), 0);
  ASSERT_EQ(::mkfifo((root + "/a/fifo").c_str(), 0600), 0);
  const auto tar = rooted_folder_as_tar({root, "/a"}, 1 << 20);
  ASSERT_TRUE(tar.ok()) << tar.error().message;
  ASSERT_TRUE(write_file(root + "/a.tar", *tar, 0600).ok());
  // A program of the machine reads it as it was, and finds nothing else.
  const std::string command =
      "cd " + root + " && mkdir out && tar xf a.tar -C out && rm a/link a/fifo && diff -r a out";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(rooted_folder_as_tar({root, "/a"}, 2048).error().code, base::Code::kTooLarge);
  EXPECT_EQ(rooted_folder_as_tar({root, "/secret"}, 2048).error().code, base::Code::kInvalid);
  EXPECT_EQ(rooted_folder_as_tar({root, "/none"}, 2048).error().code, base::Code::kNotFound);
  EXPECT_TRUE(remove_tree(root).ok());
}

}  // namespace
}  // namespace rt
