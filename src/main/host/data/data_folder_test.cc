// The data folder belongs to its owner alone.
#include "main/host/data/data_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "main/host/base/scratch_folder_for_tests.h"

namespace volcano_main {
namespace {

unsigned mode_of_file(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
}

TEST(DataFolder, is_made_for_its_owner_whatever_the_umask_is) {
  const ScratchFolder folder;
  const mode_t before = ::umask(0);
  const auto opened = open_data_folder(folder.at("above/data/"));
  ::umask(before);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(*opened, "");
  EXPECT_EQ(mode_of_file(folder.at("above/data")), 0700U);
}

TEST(DataFolder, an_open_one_of_ours_is_shut_and_that_is_reported) {
  const ScratchFolder folder;
  for (const char* inside : {"", "keys", "lost+found"}) {
    const std::string path = folder.at(std::string("open-") + inside);
    std::filesystem::create_directories(path + "/" + inside);
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
    const auto opened = open_data_folder(path);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_NE(opened->find("had mode 0755"), std::string::npos) << *opened;
    EXPECT_EQ(mode_of_file(path), 0700U);
  }
}

TEST(DataFolder, an_open_one_with_other_files_stays_open) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder.at("home/pictures"));
  ASSERT_EQ(::chmod(folder.at("home").c_str(), 0755), 0);
  const auto opened = open_data_folder(folder.at("home"));
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("--data"), std::string::npos) << opened.error().message;
  EXPECT_EQ(mode_of_file(folder.at("home")), 0755U);
}

TEST(DataFolder, a_file_is_not_a_folder) {
  const ScratchFolder folder;
  folder.write("file", "x");
  EXPECT_FALSE(open_data_folder(folder.at("file")).ok());
  EXPECT_FALSE(open_data_folder(folder.at("file/below")).ok());
}

}  // namespace
}  // namespace volcano_main
