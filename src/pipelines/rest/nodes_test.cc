// Which artifacts are read from a store, with which keys, and by whose rights.
#include "pipelines/rest/nodes.h"

#include "pipelines/rest/rest_for_tests.h"

namespace pipelines::rest {
namespace {

constexpr std::string_view kConfig =
    R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kfp-launcher", "namespace": "ns"},
  "data": {"providers": "s3: {default: {endpoint: 'http://store:9000', credentials: {fromEnv: false, secretRef: {secretName: keys, accessKeyKey: id, secretKeyKey: key}}}}"}})";

class StoredObjects : public ::testing::Test {
 protected:
  // "BUCKET KEY ID SECRET", "volume", or the refusal.
  std::string at(const std::string& uri) {
    Facts::Known known;
    for (;;) {
      Facts facts(rest.ids, known, rest.env.now());
      const auto object = stored_object(facts, "ns", uri);
      if (!facts.next()) {
        if (!object.ok()) return object.error().message;
        if (!*object) return "volume";
        return (*object)->place.bucket + " " + (*object)->place.key + " " + (*object)->keys.id + " " +
               (*object)->keys.secret;
      }
      base::Result<api::Json> result = api::Json();
      rest.api.call(*facts.next(), [&result](base::Result<api::Json> got) { result = std::move(got); });
      rest.env.settle();
      known.answers.push_back(std::move(result));
    }
  }
  void put(const api::ResourceId& resource, std::string_view text) { rest.api.put(resource, *api::parse_json(text)); }

  testing::Rest rest;
};

TEST_F(StoredObjects, AreReadWithTheKeysThatTheNamespaceNames) {
  EXPECT_EQ(at("minio://mlpipeline/a"), "volume");
  EXPECT_EQ(at("s3://b/k"),
            "the keys of the store of s3://b/k are those of the step, and not in a Secret that the "
            "ConfigMap kfp-launcher names");
  put(api::resources::kConfigMaps, kConfig);
  EXPECT_NE(at("s3://b/k").find("keys"), std::string::npos);
  put(api::resources::kSecrets,
      R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys", "namespace": "ns"}, "data": {"id": "bWU=", "key": "d29yZA=="}})");
  EXPECT_EQ(at("s3://b/k/l"), "b k/l me word");
  EXPECT_EQ(at("minio://mlpipeline/a"), "volume");
  EXPECT_EQ(at("gs://b/k"), "the artifact is at gs://b/k, and only those of s3:// and minio:// are read here");
  EXPECT_EQ(at("s3://b"), "the artifact is at s3://b, and only those of s3:// and minio:// are read here");
  EXPECT_EQ(at("nothing").substr(0, 29), "the artifact is at nothing, a");
}

TEST(StoredFiles, AreReadByACommandThatTakesTheirNameAsItIs) {
  const std::string command = command_to_read({"team", "mlpipeline-artifacts", "pv", "v2/it's a/\"model\""});
  EXPECT_TRUE(command.starts_with("kubectl run read-artifact -n team --image=busybox ")) << command;
  EXPECT_NE(command.find(R"("claimName":"mlpipeline-artifacts")"), std::string::npos) << command;
  EXPECT_NE(command.find(R"("--","v2/it'\''s a/\"model\""])"), std::string::npos) << command;
  EXPECT_TRUE(command.ends_with("' > '\"model\".tar'")) << command;
}

}  // namespace
}  // namespace pipelines::rest
