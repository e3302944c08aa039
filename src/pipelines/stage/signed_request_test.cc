// A request whose signature was calculated elsewhere.
#include "pipelines/stage/signed_request.h"

#include <gtest/gtest.h>

namespace pipelines {
namespace {

TEST(SignedRequest, is_as_the_documentation_of_the_signatures_has_it) {
  ObjectPlace place{.bucket = "bucket-1", .key = "a b/c+d"};
  place.store.host = "store";
  place.store.port = "9000";
  place.store.region = "eu-1";
  place.store.tls = false;
  const rt::HttpRequest http =
      signed_get(place, {.id = "me", .secret = "word"}, *base::parse_rfc3339("2026-01-02T03:04:05Z"), 10);
  EXPECT_EQ(http.target, "/bucket-1/a%20b/c%2Bd");
  EXPECT_EQ(rt::header(http.headers, "Host"), "store:9000");
  EXPECT_EQ(rt::header(http.headers, "Range"), "bytes=0-9");
  EXPECT_EQ(rt::header(http.headers, "Authorization"),
            "AWS4-HMAC-SHA256 Credential=me/20260102/eu-1/s3/aws4_request, "
            "SignedHeaders=host;x-amz-content-sha256;x-amz-date, "
            "Signature=1d86228e32ef3faf8e60144cb658e59db008d21cadd48d8d6a43ebfac82380e9");
  place.store.bucket_in_host = true;
  EXPECT_EQ(signed_get(place, {}, {}, 1).target, "/a%20b/c%2Bd");
  EXPECT_EQ(host_of(place), "bucket-1.store");
}

TEST(SignedRequest, lists_ask_the_bucket_page_by_page) {
  ObjectPlace place{.bucket = "bucket-1", .key = "a b/"};
  place.store.host = "store";
  place.store.port = "9000";
  place.store.region = "eu-1";
  place.store.tls = false;
  const base::Time now = *base::parse_rfc3339("2026-01-02T03:04:05Z");
  const rt::HttpRequest http = signed_list(place, {.id = "me", .secret = "word"}, now, "t/1=");
  EXPECT_EQ(http.target, "/bucket-1?continuation-token=t%2F1%3D&list-type=2&prefix=a%20b%2F");
  const std::string_view signature = rt::header(http.headers, "Authorization");
  EXPECT_EQ(signature.substr(signature.rfind('=') + 1),
            "f73e7636f2be974d2fd96e6d2c1eb14a85b19e5324e9e9b881fca9f28a434e81");
  place.store.bucket_in_host = true;
  EXPECT_EQ(signed_list(place, {}, now, "").target, "/?list-type=2&prefix=a%20b%2F");
}

}  // namespace
}  // namespace pipelines
