// What a pull leaves in the store; the programs that pull are made up.
#include "node/image_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace node {
namespace {

// Scripts before all other programs, as long as this lives.
class Programs {
 public:
  explicit Programs(const std::string& folder) : folder_(folder), before_(::getenv("PATH")) {
    ::setenv("PATH", (folder + ":" + before_).c_str(), 1);
  }
  ~Programs() { ::setenv("PATH", before_.c_str(), 1); }
  void add(const std::string& name, const std::string& script) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\nset -e\n" << script;
    ::chmod(path.c_str(), 0755);
  }

 private:
  std::string folder_, before_;
};

TEST(ImageStore, keys_of_a_registry_are_gone_when_the_image_is_there) {
  char folder[] = "/tmp/image-store-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string scratch = folder, digest(64, 'a');
  const Programs programs(scratch);
  programs.add("skopeo",
               "for last; do :; done\nlayout=${last#oci:}; layout=${layout%:image}\n"
               "test -s \"$(dirname $layout)/keys.json\"\nmkdir -p $layout/blobs/sha256\n"
               "echo '{\"manifests\":[{\"digest\":\"sha256:" +
                   digest +
                   "\"}]}' > $layout/index.json\n"
                   "echo '{\"config\":{\"digest\":\"sha256:" +
                   digest + "\"},\"layers\":[]}' > $layout/blobs/sha256/" + digest + "\n");
  programs.add("umoci", "for last; do :; done\nmkdir -p $last/rootfs\n");
  ImageStore store(scratch + "/images");
  const auto image = store.pull("127.0.0.1:5000/closed:v1", "now", R"({"auths":{}})");
  ASSERT_TRUE(image.ok()) << image.error().message;
  EXPECT_EQ(::access(image->root.c_str(), F_OK), 0);
  EXPECT_NE(::access((image->root + "/../keys.json").c_str(), F_OK), 0) << "the password stays on the disk";
  std::ofstream(image->root + "/../keys.json") << "left by an earlier version";
  store.sweep();
  EXPECT_NE(::access((image->root + "/../keys.json").c_str(), F_OK), 0);
  (void)!std::system(("rm -rf " + scratch).c_str());
}

}  // namespace
}  // namespace node
