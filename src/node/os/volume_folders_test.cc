// Volumes of files, whatever the files are called.
#include "node/os/volume_folders.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "node/os/pod_folders.h"
#include "rt/files.h"

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

}  // namespace
}  // namespace node
