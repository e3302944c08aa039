// The store after a pull; the programs that pull are made up.
#include "node/machine/image_store.h"

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

// The files that `skopeo` leaves: a layout with this manifest, and this configuration if its name is another's.
std::string layout_script(const std::string& digest, const std::string& manifest, const std::string& config_digest,
                          const std::string& config) {
  return "for last; do :; done\nlayout=${last#oci:}; layout=${layout%:image}\nmkdir -p $layout/blobs/sha256\n"
         "echo '{\"manifests\":[{\"digest\":\"sha256:" +
         digest + "\"}]}' > $layout/index.json\necho '" + manifest + "' > $layout/blobs/sha256/" + digest + "\necho '" +
         config + "' > $layout/blobs/sha256/" + config_digest + "\n";
}

// An image is known by its configuration's digest. One with a layer less than its configuration names had the id of the
// true image, which was not unpacked any more when its own registry was asked.
TEST(ImageStore, layers_that_are_left_out_are_noticed) {
  char folder[] = "/tmp/image-store-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string scratch = folder, digest(64, 'a'), config_digest(64, 'b'), layer = R"({"digest":"sha256:c"})";
  const Programs programs(scratch);
  programs.add("umoci", "for last; do :; done\nmkdir -p $last/rootfs\n");
  ImageStore store(scratch + "/images");
  const auto pull = [&](const std::string& layers, const std::string& ids) {
    programs.add(
        "skopeo",
        layout_script(digest, R"({"config":{"digest":"sha256:)" + config_digest + R"("},"layers":[)" + layers + "]}",
                      config_digest, R"({"rootfs":{"diff_ids":[)" + ids + "]}}"));
    return store.pull("127.0.0.1:5000/team/app:v1", "now");
  };
  const auto partial = pull(layer, R"("sha256:1","sha256:2")");
  ASSERT_FALSE(partial.ok());
  EXPECT_EQ(partial.error().message,
            "failed to pull and unpack image \"127.0.0.1:5000/team/app:v1\": the image has 1 layers, and its "
            "configuration names 2");
  EXPECT_TRUE(store.list().empty());
  EXPECT_FALSE(pull(layer + "," + layer, R"("sha256:1")").ok());
  const auto whole = pull(layer + "," + layer, R"("sha256:1","sha256:2")");
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  EXPECT_EQ(store.find("127.0.0.1:5000/team/app:v1")->config["rootfs"]["diff_ids"].size(), 2u);
  (void)!std::system(("rm -rf " + scratch).c_str());
}

// A pod that was deleted left its pull to go on, for as long as the registry liked.
TEST(ImageStore, a_pull_that_nobody_waits_for_ends) {
  char folder[] = "/tmp/image-store-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string scratch = folder;
  const Programs programs(scratch);
  programs.add("skopeo", "exec sleep 100\n");
  programs.add("umoci", "true\n");
  ImageStore store(scratch + "/images");
  const std::atomic<bool> given_up{true};
  const auto image = store.pull("127.0.0.1:5000/slow:v1", "now", {}, &given_up);
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().message,
            "failed to pull and unpack image \"127.0.0.1:5000/slow:v1\": nobody waits for it any more");
  (void)!std::system(("rm -rf " + scratch).c_str());
}

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
