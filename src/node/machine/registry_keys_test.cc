// Credentials for registries, as docker's files have them.
#include "node/machine/registry_keys.h"

#include <gtest/gtest.h>

#include "base/base64.h"

namespace node {
namespace {

using api::Json;

Json secret(const char* type, const char* key, const std::string& text) {
  return Json::object({{"type", type}, {"data", Json::object({{key, base::base64_encode(text)}})}});
}
Json config(const std::string& text) { return secret("kubernetes.io/dockerconfigjson", ".dockerconfigjson", text); }

TEST(RegistryKeys, AreThoseOfThePodsSecrets) {
  const Json first = config(
      R"({"auths": {"https://index.docker.io/v1/": {"auth": "YTpi"}, "r.example:5000": {"username": "a", "password": "b"}}})");
  const Json second = secret("kubernetes.io/dockercfg", ".dockercfg",
                             R"({"docker.io": {"auth": "eA=="}, "other/team": {"auth": "eQ=="}})");
  EXPECT_EQ(registry_keys({&first, &second}),
            R"({"auths":{"docker.io":{"auth":"YTpi"},"r.example:5000":{"auth":"YTpi"},"other/team":{"auth":"eQ=="}}})");
}

TEST(RegistryKeys, AreNoneWhereNothingCanBeRead) {
  for (const Json& one : {config("{"), config("7"), config(R"({"auths": 7})"), config(R"({"auths": {"r": 7}})"),
                          config(R"({"auths": {"": {"auth": "x"}}})"),
                          secret("Opaque", ".dockerconfigjson", R"({"auths": {"r": {"auth": "x"}}})"),
                          Json::object({{"type", "kubernetes.io/dockerconfigjson"},
                                        {"data", Json::object({{".dockerconfigjson", "%"}})}})})
    EXPECT_EQ(registry_keys({&one}), "") << one.dump();
  EXPECT_EQ(registry_keys({}), "");
}

}  // namespace
}  // namespace node
