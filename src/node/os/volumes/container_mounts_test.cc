// Volumes in which other containers write, as containers get them, and reads of folders in which anything may lie.
#include "node/os/volumes/container_mounts.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/format.h"
#include "node/os/pod_folders.h"
#include "rt/files/files.h"

namespace node {
namespace {

class ContainerMounts : public testing::Test {
 protected:
  ~ContainerMounts() override { (void)rt::remove_tree(folder); }
  std::string folder = [] {
    char path[] = "/tmp/mounts-test-XXXXXX";
    return std::string(::mkdtemp(path));
  }();
};

// `cp -r` of a ConfigMap's volume brings its "..data" along.
TEST_F(ContainerMounts, a_volume_stays_writable_whatever_is_written_to_it) {
  const PodFolders folders(folder);
  ASSERT_TRUE(rt::make_folders(folders.volumes("u") + "/work/..data", 0755).ok());
  ASSERT_TRUE(rt::make_folders(folder + "/c", 0755).ok());
  ContainerSpec spec;
  spec.pod_uid = "u";
  spec.mounts = {{"volume:work/", "/work", false}, {"volume:work/", "/config", true}};
  const auto mounts = container_mounts(folders, spec, folder + "/c");
  ASSERT_TRUE(mounts.ok()) << mounts.error().message;
  EXPECT_FALSE((*mounts)[0].read_only);
  EXPECT_TRUE((*mounts)[1].read_only);
}

TEST_F(ContainerMounts, a_pipe_in_the_place_of_a_file_is_not_waited_for) {
  ASSERT_EQ(::mkfifo((folder + "/ids").c_str(), 0600), 0);
  EXPECT_EQ(read_text(folder + "/ids"), "");
  EXPECT_EQ(read_text(folder), "");
}

TEST(MountShares, APathIsSharedAsTheLastMountAboveIt) {
  const char* const text =
      "1 0 8:1 / / rw - ext4 /dev/sda rw\n"
      "2 1 8:1 /a /a rw shared:7 - ext4 /dev/sda rw\n"
      "3 2 0:9 / /a/b rw master:7 - tmpfs t rw\n"
      "4 1 0:9 / /ab rw shared:8 master:1 - tmpfs t rw\n"
      "5 1 0:9 / /twice rw shared:8 - tmpfs t rw\n"
      "6 5 0:9 / /twice rw - tmpfs t rw\n";
  const auto share = [&](const char* path) {
    const MountShare found = share_of_path(text, path);
    return base::format("{}{}{}", found.mount_point, found.shared ? " shared" : "", found.slave ? " slave" : "");
  };
  EXPECT_EQ(share("/x"), "/");
  EXPECT_EQ(share("/a"), "/a shared");
  EXPECT_EQ(share("/a/c/d"), "/a shared");
  EXPECT_EQ(share("/a/b/d"), "/a/b slave");
  EXPECT_EQ(share("/ab"), "/ab shared slave");
  EXPECT_EQ(share("/abc"), "/");
  EXPECT_EQ(share("/twice/x"), "/twice");
}

}  // namespace
}  // namespace node
