// The ConfigMap kfp-launcher: which store an artifact lies in, what a step has to move, and what is refused.
#include "pipelines/stage/stores.h"

#include <gtest/gtest.h>

#include "pipelines/stage/program.h"

namespace pipelines {
namespace {

using api::Json;

Json config(std::string_view providers, std::string_view root = "") {
  Json data = Json::object({{"providers", providers}});
  if (!root.empty()) data.set("defaultPipelineRoot", root);
  return Json::object({{"data", std::move(data)}});
}

constexpr std::string_view kBoth = R"(
s3:
  default:
    endpoint: s3.amazonaws.com
    region: eu-west-1
    credentials: {fromEnv: true}
  overrides:
  - bucketName: near
    keyPrefix: models
    endpoint: http://10.0.0.7:9000/
    forcePathStyle: false
    credentials: {secretRef: {secretName: near, accessKeyKey: id, secretKeyKey: key}}
minio:
  default:
    endpoint: minio-service.kubeflow:9000
    disableSSL: true
    credentials: {fromEnv: false, secretRef: {secretName: minio, accessKeyKey: accesskey, secretKeyKey: secretkey}}
)";

std::string path_of(const Json& artifact) { return "/in/" + artifact["name"].str(); }

TEST(Stores, AreReadAndFoundByBucketAndPrefix) {
  const auto stores = Stores::read(config(kBoth, "s3://near/runs"));
  ASSERT_TRUE(stores.ok()) << stores.error().message;
  EXPECT_EQ(stores->default_root(), "s3://near/runs");
  const auto at = [&](std::string_view uri) { return **stores->store_of(uri); };
  EXPECT_EQ(at("s3://near/runs/a"), (Store{.region = "eu-west-1"}));
  const Store near{.host = "10.0.0.7",
                   .port = "9000",
                   .region = "eu-west-1",
                   .tls = false,
                   .bucket_in_host = true,
                   .secret = "near",
                   .id_key = "id",
                   .secret_key = "key"};
  EXPECT_EQ(at("s3://near/models/a"), near);
  EXPECT_EQ(at("s3://near/models-old/a").host, "s3.amazonaws.com");
  EXPECT_EQ(at("minio://mlpipeline/v2").host, "minio-service.kubeflow");
  EXPECT_FALSE(stores->is_volume("minio://mlpipeline/v2"));
  EXPECT_EQ(*stores->store_of("gs://b/k"), std::nullopt);
}

TEST(Stores, WithoutAConfigMapThereIsTheVolume) {
  const auto stores = Stores::read(Json());
  ASSERT_TRUE(stores.ok());
  EXPECT_TRUE(stores->is_volume("minio://mlpipeline/v2"));
  EXPECT_FALSE(stores->is_volume("minio://mlpipeline-other/v2"));
  EXPECT_TRUE(stores->check_root("minio://mlpipeline/x").ok());
  EXPECT_TRUE(stores->check_root("s3://bucket").ok());
  EXPECT_EQ(stores->check_root("minio://other/x").error().message,
            R"("minio://other/x": the ConfigMap kfp-launcher has no provider minio)");
  EXPECT_EQ(
      stores->check_root("gs://b").error().message,
      R"(the root of artifacts "gs://b" is neither in minio://mlpipeline nor in an S3-compatible store (s3://, minio://))");
  EXPECT_FALSE(stores->check_root("s3://b?region=x").ok());
  EXPECT_FALSE(stores->check_root("s3:///x").ok());
}

TEST(Stores, ErrorsNameTheirPlace) {
  const auto error = [](std::string_view providers) { return Stores::read(config(providers)).error().message; };
  EXPECT_EQ(error("s3: {}"), "providers.s3.default: it is required");
  EXPECT_EQ(error("s3: {default: {endpoint: e}}"), "providers.s3.default.credentials: they are required");
  EXPECT_EQ(error("minio: {default: {endpoint: 'a b', credentials: {fromEnv: true}}}"),
            R"(providers.minio.default.endpoint: "a b" is not HOST or HOST:PORT)");
  EXPECT_EQ(
      error("minio: {default: {credentials: {fromEnv: true}}, overrides: [{credentials: {}}]}"),
      "providers.minio.overrides[0].credentials.secretRef: secretName, accessKeyKey and secretKeyKey are required "
      "where fromEnv is false");
  EXPECT_EQ(error("a: [").substr(0, 11), "providers: ");
}

TEST(Stores, AStepMovesWhatLiesInStores) {
  const auto stores = Stores::read(config(kBoth));
  const auto input = api::parse_json(R"({
    "inputs": {"artifacts": {"a": {"artifacts": [{"name": "a", "uri": "s3://near/models/m"}, {"name": "b", "uri": "s3://far/b c"}]},
                             "g": {"artifacts": [{"name": "g", "uri": "gs://x/y"}]}}},
    "outputs": {"artifacts": {"o": {"artifacts": [{"name": "o", "uri": "minio://mlpipeline/v2/o"}]}}}})");
  const auto staging = stores->staging_of(*input, path_of);
  ASSERT_TRUE(staging.ok()) << staging.error().message;
  EXPECT_EQ(staging->plan,
            "store\t0\tplain\thost\t10.0.0.7\t9000\teu-west-1\n"
            "store\t1\ttls\tpath\ts3.amazonaws.com\t443\teu-west-1\n"
            "store\t2\tplain\tpath\tminio-service.kubeflow\t9000\tus-east-1\n"
            "get\t0\tnear\tmodels/m\t/in/a\n"
            "get\t1\tfar\tb c\t/in/b\n"
            "put\t2\tmlpipeline\tv2/o\t/in/o\n");
  EXPECT_EQ(staging->folders, (std::vector<std::string>{"/s3", "/minio"}));
  EXPECT_FALSE(staging->reads_volume);
  const auto twisted = api::parse_json(
      "{\"inputs\": {\"artifacts\": {\"a\": {\"artifacts\": [{\"name\": \"a\", \"uri\": \"s3://b/k\\nget\\t0\"}]}}}}");
  EXPECT_EQ(stores->staging_of(*twisted, path_of).error().message,
            R"(inputs.artifacts.a: "s3://b/k\nget\t0" is not a key of a store)");
}

TEST(Stores, TheProgramFitsIntoAConfigMap) { EXPECT_LT(stage_program().size(), std::size_t{1} << 20); }

}  // namespace
}  // namespace pipelines
