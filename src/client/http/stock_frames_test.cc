// Bytes that a stock API server (Kubernetes 1.36.1) sent, as our clients read them.
#include <gtest/gtest.h>

#include "api/protobuf/protobuf.h"
#include "base/base64.h"
#include "client/http/wire.h"

namespace client {
namespace {

using api::Json;

// A watch of one ConfigMap with sendInitialEvents: it is there, and then the bookmark.
constexpr std::string_view kBeginning =
    "AAABJAoFQURERUQSmgIKlwJrOHMACg8KAnYxEglDb25maWdNYXAS+wEK5wEKAWESABoDcmVjIgAqJGQxYjQ1MmE2LWJjY2EtNDQ0Yy1iY2RlLTgz"
    "YWNjOGE0YjcyODIDMjA3OABCCAj/85PYBhAAYgcKAW4SAsOpigGXAQoBbRIGVXBkYXRlGgJ2MSIICP/zk9gGEAAyCEZpZWxkc1YxOnAKbnsiZjpi"
    "aW5hcnlEYXRhIjp7Ii4iOnt9LCJmOmIiOnt9fSwiZjpkYXRhIjp7Ii4iOnt9LCJmOmsiOnt9fSwiZjptZXRhZGF0YSI6eyJmOmFubm90YXRpb25z"
    "Ijp7Ii4iOnt9LCJmOm4iOnt9fX19QgASBgoBaxIBdhoHCgFiEgIA/xoAIgAAAABhCghCT09LTUFSSxJVClNrOHMACg8KAnYxEglDb25maWdNYXAS"
    "OAo2CgASABoAIgAqADIDMjA3OABCAGIhChlrOHMuaW8vaW5pdGlhbC1ldmVudHMtZW5kEgR0cnVlGgAiAA==";
// A watch from a version that is too old.
constexpr std::string_view kExpired =
    "AAAAZQoFRVJST1ISXApaazhzAAoMCgJ2MRIGU3RhdHVzEkIKBgoAEgAaABIHRmFpbHVyZRojdG9vIG9sZCByZXNvdXJjZSB2ZXJzaW9uOiAyMDgg"
    "KDIxMSkiB0V4cGlyZWQwmgMaACIA";
// The list of the same ConfigMap.
constexpr std::string_view kList =
    "azhzAAoTCgJ2MRINQ29uZmlnTWFwTGlzdBKJAgoJCgASAzIwNxoAEvsBCucBCgFhEgAaA3JlYyIAKiRkMWI0NTJhNi1iY2NhLTQ0NGMtYmNkZS04"
    "M2FjYzhhNGI3MjgyAzIwNzgAQggI//OT2AYQAGIHCgFuEgLDqYoBlwEKAW0SBlVwZGF0ZRoCdjEiCAj/85PYBhAAMghGaWVsZHNWMTpwCm57ImY6"
    "YmluYXJ5RGF0YSI6eyIuIjp7fSwiZjpiIjp7fX0sImY6ZGF0YSI6eyIuIjp7fSwiZjprIjp7fX0sImY6bWV0YWRhdGEiOnsiZjphbm5vdGF0aW9u"
    "cyI6eyIuIjp7fSwiZjpuIjp7fX19fUIAEgYKAWsSAXYaBwoBYhICAP8aACIA";
// The server's JSON of it.
constexpr std::string_view kItem =
    R"({"metadata":{"name":"a","namespace":"rec","uid":"d1b452a6-bcca-444c-bcde-83acc8a4b728","resourceVersion":"207",)"
    R"("creationTimestamp":"2026-11-24T02:44:15Z","annotations":{"n":"é"},"managedFields":[{"manager":"m",)"
    R"("operation":"Update","apiVersion":"v1","time":"2026-11-24T02:44:15Z","fieldsType":"FieldsV1","fieldsV1":)"
    R"({"f:binaryData":{".":{},"f:b":{}},"f:data":{".":{},"f:k":{}},"f:metadata":{"f:annotations":{".":{},"f:n":{}}}}}]},)"
    R"("data":{"k":"v"},"binaryData":{"b":"AP8="}})";

std::string bytes_of(std::string_view text) { return *base::base64_decode(text); }

std::string sorted(std::string_view json) { return api::parse_json(json)->sorted().dump(); }

TEST(StockFrames, ListsAreReadAsTheirJson) {
  rt::HttpResponse response{200, {}, bytes_of(kList)};
  const auto list = decode_response(response, nullptr);
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_EQ((*list)["metadata"].dump(), R"({"resourceVersion":"207"})");
  ASSERT_EQ((*list)["items"].size(), 1u);
  EXPECT_EQ((*list)["items"][std::size_t{0}].sorted().dump(), sorted(kItem));
}

TEST(StockFrames, EventsAreReadAsTheirJson) {
  WatchDecoder decoder(nullptr);
  decoder.begin("application/vnd.kubernetes.protobuf;stream=watch");
  std::vector<WatchEvent> events;
  ASSERT_TRUE(decoder.feed(bytes_of(kBeginning), events).ok());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].type, EventType::kAdded);
  Json first = events[0].object;
  EXPECT_EQ(first["apiVersion"].as_string(), "v1");
  EXPECT_EQ(first["kind"].as_string(), "ConfigMap");
  first.erase("apiVersion");
  first.erase("kind");
  EXPECT_EQ(first.sorted().dump(), sorted(kItem));
  EXPECT_EQ(events[1].type, EventType::kBookmark);
  EXPECT_EQ(events[1].object["metadata"].dump(),
            R"({"resourceVersion":"207","annotations":{"k8s.io/initial-events-end":"true"}})");
  const base::Status ended = decoder.feed(bytes_of(kExpired), events);
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, base::Code::kExpired);
  EXPECT_EQ(ended.error().message, "too old resource version: 208 (211)");
}

}  // namespace
}  // namespace client
