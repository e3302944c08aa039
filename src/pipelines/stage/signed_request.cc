// The same text is signed in sign.c, which runs in images without a library of ours.
#include "pipelines/stage/signed_request.h"

#include "base/format.h"
#include "rt/tls/hmac.h"
#include "rt/tls/tls.h"

namespace pipelines {

namespace {

constexpr std::string_view kNames = "host;x-amz-content-sha256;x-amz-date";

std::string escaped(std::string_view text, bool keeps_slash) {
  std::string out;
  for (const char one : text) {
    const bool is_plain = (one >= 'A' && one <= 'Z') || (one >= 'a' && one <= 'z') || (one >= '0' && one <= '9') ||
                          std::string_view("-._~").find(one) != std::string_view::npos || (keeps_slash && one == '/');
    out += is_plain ? std::string(1, one) : base::format("%{:02X}", static_cast<unsigned char>(one));
  }
  return out;
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char one : bytes) out += base::format("{:02x}", static_cast<unsigned char>(one));
  return out;
}

// "20260102T030405Z"
std::string moment_of(base::Time now) {
  std::string out;
  for (const char one : base::format_rfc3339(now).substr(0, 19))
    if (one != '-' && one != ':') out += one;
  return out + "Z";
}

// A GET of an object of the place's bucket, or with an empty key of the bucket itself.
rt::HttpRequest signed_request(const ObjectPlace& place, const std::string& object, const std::string& query,
                               const StoreKeys& keys, base::Time now) {
  const Store& store = place.store;
  const bool is_usual = store.port == (store.tls ? "443" : "80");
  const std::string host = host_of(place) + (is_usual ? "" : ":" + store.port);
  const std::string key = escaped(object, true);
  const std::string path = store.bucket_in_host
                               ? "/" + key
                               : base::format("/{}{}{}", escaped(place.bucket, false), key.empty() ? "" : "/", key);
  const std::string moment = moment_of(now), day = moment.substr(0, 8), digest = rt::sha256_hex("");
  const std::string scope = base::format("{}/{}/s3/aws4_request", day, store.region);
  const std::string request = base::format("GET\n{}\n{}\nhost:{}\nx-amz-content-sha256:{}\nx-amz-date:{}\n\n{}\n{}",
                                           path, query, host, digest, moment, kNames, digest);
  const std::string text = base::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", moment, scope, rt::sha256_hex(request));
  std::string signing = rt::hmac_sha256("AWS4" + keys.secret, day);
  for (const std::string_view part :
       {std::string_view(store.region), std::string_view("s3"), std::string_view("aws4_request")})
    signing = rt::hmac_sha256(signing, part);
  rt::HttpRequest http{.method = "GET", .target = query.empty() ? path : base::format("{}?{}", path, query)};
  http.headers = {{"Host", host},
                  {"x-amz-date", moment},
                  {"x-amz-content-sha256", digest},
                  {"Authorization", base::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}",
                                                 keys.id, scope, kNames, hex(rt::hmac_sha256(signing, text)))}};
  return http;
}

}  // namespace

std::string host_of(const ObjectPlace& place) {
  return place.store.bucket_in_host ? base::format("{}.{}", place.bucket, place.store.host) : place.store.host;
}

rt::HttpRequest signed_get(const ObjectPlace& place, const StoreKeys& keys, base::Time now, std::size_t bytes) {
  rt::HttpRequest http = signed_request(place, place.key, "", keys, now);
  http.headers.emplace_back("Range", base::format("bytes=0-{}", bytes - 1));
  return http;
}

rt::HttpRequest signed_list(const ObjectPlace& place, const StoreKeys& keys, base::Time now, const std::string& token) {
  // In the order of their names, as they are signed.
  std::string query = token.empty() ? "" : base::format("continuation-token={}&", escaped(token, false));
  query += base::format("list-type=2&prefix={}", escaped(place.key, false));
  return signed_request(place, "", query, keys, now);
}

}  // namespace pipelines
