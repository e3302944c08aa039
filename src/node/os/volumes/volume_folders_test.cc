// Volumes of files, whatever the files are called, and folders of claims.
#include "node/os/volumes/volume_folders.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <optional>

#include "base/format.h"
#include "node/os/pod_folders.h"
#include "rt/files/files.h"

namespace node {
namespace {

class VolumeFiles : public testing::Test {
 protected:
  ~VolumeFiles() override { (void)rt::remove_tree(folder); }

  void lay_out(std::vector<FileSpec> files) {
    VolumeSpec volume;
    volume.name = "v";
    volume.kind = VolumeSpec::Kind::kFiles;
    volume.files = std::move(files);
    const base::Status done = lay_out_volume(folder + "/v", volume);
    ASSERT_TRUE(done.ok()) << done.error().message;
    for (const FileSpec& file : volume.files)
      EXPECT_EQ(read_text(folder + "/v/" + file.path), file.content) << file.path;
  }

  std::string folder = [] {
    char path[] = "/tmp/volumes-test-XXXXXX";
    return std::string(::mkdtemp(path));
  }();
};

// The name beside a file under which it was written first was also a name that files may have.
TEST_F(VolumeFiles, files_are_not_written_over_one_another) {
  lay_out({{"x.new", "one"}, {"x", "two"}, {"d/x.new", "three"}, {"d/x", "four"}, {"d.new", "five"}});
  lay_out({{"x.new", "1"}, {"x", "2"}, {"d/x.new", "3"}, {"d/x", "4"}, {"d.new", "5"}});
  const std::vector<std::string> names = list_folder(folder + "/v");
  ASSERT_EQ(names.size(), 6u) << "what is left beside the files";
  EXPECT_EQ(names[0], "..data");
}

// A link in a volume that is memory and that others write must not say what goes.
TEST_F(VolumeFiles, nothing_outside_goes_with_the_old_set) {
  lay_out({{"x", "one"}});
  ASSERT_TRUE(rt::make_folders(folder + "/other", 0755).ok());
  ASSERT_EQ(::unlink((folder + "/v/..data").c_str()), 0);
  ASSERT_EQ(::symlink("../other", (folder + "/v/..data").c_str()), 0);
  lay_out({{"x", "two"}});
  EXPECT_EQ(::access((folder + "/other").c_str(), F_OK), 0);
}

// Kubernetes allows keys of 253 letters, and paths whose parts have as many as file systems take.
TEST_F(VolumeFiles, names_may_be_as_long_as_file_systems_take) {
  lay_out({{std::string(253, 'k'), "one"}, {std::string(255, 'p') + "/" + std::string(255, 'q'), "two"}});
}

// Folders of claims: who may write there, and what a pod has left there to mislead the node.
class ClaimFolders : public testing::Test {
 protected:
  ClaimFolders() { ::chmod(folder.c_str(), 0755); }
  ~ClaimFolders() override { (void)rt::remove_tree(folder); }
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can change groups";
  }

  std::string lay_out(std::optional<std::int64_t> group, bool on_mismatch = false) {
    VolumeSpec volume;
    volume.name = "v";
    volume.kind = VolumeSpec::Kind::kHostPath;
    volume.host_path = folder + "/claim";
    volume.host_type = "DirectoryOrCreate";
    volume.group = group;
    volume.group_on_mismatch = on_mismatch;
    volume.open_to_all = true;
    const base::Status done = lay_out_volume(folder + "/v", volume);
    return done.ok() ? "" : done.error().message;
  }
  // "MODE GROUP"
  std::string facts(const std::string& path) const {
    struct stat facts {};
    if (::lstat((folder + "/" + path).c_str(), &facts) != 0) return "missing";
    return base::format("{:o} {}", facts.st_mode & 07777, facts.st_gid);
  }
  void write(const std::string& path, int mode) { ASSERT_TRUE(rt::write_file(folder + "/" + path, "x", mode).ok()); }
  void make(const std::string& path, int mode) { ASSERT_TRUE(rt::make_folders(folder + "/" + path, mode).ok()); }

  std::string folder = [] {
    char path[] = "/tmp/claims-test-XXXXXX";
    return std::string(::mkdtemp(path));
  }();
};

TEST_F(ClaimFolders, everybody_may_write_in_a_new_one) {
  EXPECT_EQ(lay_out({}), "");
  EXPECT_EQ(facts("claim"), "777 0");
  ASSERT_EQ(::chmod((folder + "/claim").c_str(), 0700), 0);
  EXPECT_EQ(lay_out({}), "");
  EXPECT_EQ(facts("claim"), "700 0") << "its owner has closed it";
  ASSERT_EQ(::chmod((folder + "/claim").c_str(), 0755), 0);
  EXPECT_EQ(lay_out({}), "");
  EXPECT_EQ(facts("claim"), "777 0") << "as older versions made it, and empty";
}

TEST_F(ClaimFolders, all_of_it_goes_to_the_group) {
  make("claim/d/e", 0700);
  write("claim/f", 0600);
  write("claim/d/e/program", 0711);
  EXPECT_EQ(lay_out(2000), "");
  EXPECT_EQ(facts("claim"), "2775 2000");
  EXPECT_EQ(facts("claim/d/e"), "2770 2000");
  EXPECT_EQ(facts("claim/f"), "660 2000");
  EXPECT_EQ(facts("claim/d/e/program"), "771 2000");
}

TEST_F(ClaimFolders, on_root_mismatch_only_a_root_that_differs_counts) {
  make("claim", 0777);
  EXPECT_EQ(lay_out(2000, true), "");
  write("claim/f", 0600);
  EXPECT_EQ(lay_out(2000, true), "");
  EXPECT_EQ(facts("claim/f"), "600 2000");
  EXPECT_EQ(lay_out(2001, true), "");
  EXPECT_EQ(facts("claim/f"), "660 2001");
  ASSERT_EQ(::chmod((folder + "/claim").c_str(), 0777), 0);  // it hands its group on no more
  write("claim/g", 0600);
  EXPECT_EQ(lay_out(2001, true), "");
  EXPECT_EQ(facts("claim/g"), "660 2001");
  write("claim/h", 0600);
  EXPECT_EQ(lay_out(2001, false), "");
  EXPECT_EQ(facts("claim/h"), "660 2001");
}

TEST_F(ClaimFolders, links_of_pods_lead_to_nothing_that_changes) {
  make("claim", 0777);
  make("host/folder", 0700);
  write("host/secret", 0600);
  write("host/folder/secret", 0600);
  ASSERT_EQ(::symlink((folder + "/host/secret").c_str(), (folder + "/claim/file").c_str()), 0);
  ASSERT_EQ(::symlink("../host/folder", (folder + "/claim/folder").c_str()), 0);
  ASSERT_EQ(::mkfifo((folder + "/claim/pipe").c_str(), 0600), 0);
  ASSERT_EQ(::mknod((folder + "/claim/disk").c_str(), S_IFBLK | 0600, makedev(8, 0)), 0);
  EXPECT_EQ(lay_out(2000), "");
  EXPECT_EQ(facts("claim/file"), "777 2000") << "the link itself";
  for (const char* path : {"host/secret", "host/folder/secret"}) EXPECT_EQ(facts(path), "600 0") << path;
  EXPECT_EQ(facts("host/folder"), "700 0");
  EXPECT_EQ(facts("claim/pipe"), "660 2000");
  EXPECT_EQ(facts("claim/disk"), "600 0");
}

TEST_F(ClaimFolders, a_tree_without_end_is_refused) {
  std::string path = "claim";
  for (int depth = 0; depth < 300; ++depth) path += "/d";
  make(path, 0755);
  EXPECT_NE(lay_out(2000).find("250 deep"), std::string::npos);
}

}  // namespace
}  // namespace node
