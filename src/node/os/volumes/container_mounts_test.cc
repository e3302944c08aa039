// Volumes in which other containers write, as containers get them, and reads of folders in which anything may lie.
#include "node/os/volumes/container_mounts.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/os/pod_folders.h"
#include "rt/files.h"

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

}  // namespace
}  // namespace node
