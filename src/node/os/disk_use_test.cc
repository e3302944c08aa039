// The space that files take on the disk, as du counts it.
#include "node/os/disk_use.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rt/files/files.h"

namespace node {
namespace {

class DiskUseOfPod : public testing::Test {
 protected:
  ~DiskUseOfPod() override { (void)rt::remove_tree(home); }

  void write(const std::string& path, std::size_t bytes) {
    ASSERT_TRUE(rt::make_folders(path.substr(0, path.rfind('/')), 0755).ok());
    ASSERT_TRUE(rt::write_file(path, std::string(bytes, 'x'), 0644).ok());
  }
  DiskUse measure() {
    const std::atomic<bool> never = false;
    return measure_disk_use(folders, {"u1", {"v", "w", "none"}, {{"main", 1}}, {"main", "init"}}, never);
  }

  std::string home = [] {
    char path[] = "/tmp/disk-use-test-XXXXXX";
    return std::string(::mkdtemp(path));
  }();
  PodFolders folders{home};
};

constexpr std::int64_t kMi = 1 << 20;
// Folders take room, too.
constexpr std::int64_t kFolders = 64 << 10;

TEST_F(DiskUseOfPod, volumes_changes_and_logs_count) {
  const std::string pod = folders.pod("u1");
  write(pod + "/volumes/v/deep/er/a", kMi);
  ASSERT_EQ(::link((pod + "/volumes/v/deep/er/a").c_str(), (pod + "/volumes/v/again").c_str()), 0);
  ASSERT_EQ(::symlink("/usr", (pod + "/volumes/w").c_str()), 0);  // nobody can, and it would not be followed
  write(pod + "/containers/main/0/upper/old", 8 * kMi);
  write(pod + "/containers/main/1/upper/a", 2 * kMi);
  write(pod + "/containers/main/1/scratch/upper/b", kMi);
  write(pod + "/logs/main/1.log", kMi);
  const DiskUse use = measure();
  EXPECT_GE(use.volumes.at("v"), kMi);
  EXPECT_LT(use.volumes.at("v"), kMi + kFolders) << "a file with two names counts once";
  EXPECT_LT(use.volumes.at("w"), kFolders);
  EXPECT_EQ(use.volumes.at("none"), 0);
  EXPECT_GE(use.containers.at("main"), 4 * kMi);
  EXPECT_LT(use.containers.at("main"), 4 * kMi + kFolders) << "the run before does not count";
}

TEST_F(DiskUseOfPod, files_that_the_node_gives_count) {
  const std::string pod = folders.pod("u1");
  write(pod + "/hosts", kMi);
  write(pod + "/resolv.conf", 2 * kMi);
  write(pod + "/containers/main/0/termination-log", kMi);
  write(pod + "/containers/main/1/termination-log", 3 * kMi);
  write(pod + "/containers/init/0/termination-log", kMi);
  write(pod + "/logs/init/0.log", kMi);
  const DiskUse use = measure();
  const auto about = [](std::int64_t bytes, std::int64_t mi) {
    return bytes >= mi * kMi && bytes < mi * kMi + kFolders;
  };
  EXPECT_TRUE(about(use.containers.at("main"), 3)) << use.containers.at("main");
  EXPECT_TRUE(about(use.others, 6)) << use.others;
  EXPECT_TRUE(about(use.given, 8)) << use.given;
  const std::atomic<bool> never = false;
  const DiskUse quick = measure_disk_use(
      folders, {.pod_uid = "u1", .volumes = {}, .all_containers = {"main", "init"}, .whole = false}, never);
  EXPECT_TRUE(about(quick.given, 8)) << quick.given;
}

TEST_F(DiskUseOfPod, holes_take_no_room_and_names_can_be_anything) {
  const std::string volume = folders.volumes("u1") + "/v";
  write(volume + "/line\nbreak\t-x", kMi);
  const int hole = ::open((volume + "/hole").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  ASSERT_EQ(::ftruncate(hole, 1000 * kMi), 0);
  ::close(hole);
  const DiskUse use = measure();
  EXPECT_GE(use.volumes.at("v"), kMi);
  EXPECT_LT(use.volumes.at("v"), kMi + kFolders);
}

// Deeper than a path can say.
TEST_F(DiskUseOfPod, what_is_hidden_deep_down_counts) {
  const std::string volume = folders.volumes("u1") + "/v";
  ASSERT_TRUE(rt::make_folders(volume, 0755).ok());
  int at = ::open(volume.c_str(), O_DIRECTORY | O_CLOEXEC);
  const std::string name(200, 'd');
  for (int depth = 0; depth < 40; ++depth) {
    ASSERT_EQ(::mkdirat(at, name.c_str(), 0755), 0);
    const int below = ::openat(at, name.c_str(), O_DIRECTORY | O_CLOEXEC);
    ASSERT_GE(below, 0);
    ::close(at);
    at = below;
  }
  const int file = ::openat(at, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  const std::string bytes(4 * kMi, 'x');
  ASSERT_EQ(::write(file, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ::close(file);
  ::close(at);
  EXPECT_GE(measure().volumes.at("v"), 4 * kMi);
}

TEST_F(DiskUseOfPod, nothing_is_known_when_it_was_given_up) {
  write(folders.volumes("u1") + "/v/a", kMi);
  const std::atomic<bool> cancelled = true;
  EXPECT_TRUE(measure_disk_use(folders, {"u1", {"v"}, {}}, cancelled).volumes.empty());
}

}  // namespace
}  // namespace node
