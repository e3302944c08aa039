// Which URLs of servers are taken, and what is said of the others.
#include "rt/http/url.h"

#include <gtest/gtest.h>

namespace rt {
namespace {

TEST(ServerUrl, is_taken_apart) {
  struct Row {
    const char* text;
    bool tls;
    const char* host;
    int port;
    const char* target;
  };
  const Row rows[] = {
      {"https://example.com", true, "example.com", 443, "/"},
      {"http://example.com", false, "example.com", 80, "/"},
      {"HTTPS://Example.com:6443/", true, "Example.com", 6443, "/"},
      {"https://10.0.0.1:6443/k8s/clusters/c-1", true, "10.0.0.1", 6443, "/k8s/clusters/c-1"},
      {"https://[::1]:6443", true, "::1", 6443, "/"},
      {"http://host:8080/metrics?match=%7Bx%7D", false, "host", 8080, "/metrics?match=%7Bx%7D"},
      {"http://host:/x", false, "host", 80, "/x"},
  };
  for (const Row& row : rows) {
    const auto url = parse_server_url(row.text);
    ASSERT_TRUE(url.ok()) << row.text << ": " << url.error().message;
    EXPECT_EQ(url->tls, row.tls) << row.text;
    EXPECT_EQ(url->host, row.host) << row.text;
    EXPECT_EQ(url->port, row.port) << row.text;
    EXPECT_EQ(url->target(), row.target) << row.text;
  }
}

TEST(ServerUrl, that_is_none_is_named_with_its_fault) {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {"", "\"\": is not a URL like https://host:port"},
      {"host:8080", "\"host:8080\": the scheme must be https or http"},
      {"ftp://host", "\"ftp://host\": the scheme must be https or http"},
      {"https://", "\"https://\": names no host"},
      {"https://host:x", "\"https://host:x\": is not a URL like https://host:port"},
      {"https://host:65536", "\"https://host:65536\": the port must be between 1 and 65535"},
      {"https://host:99999", "\"https://host:99999\": the port must be between 1 and 65535"},
      {"https://host:6x/", "\"https://host:6x/\": is not a URL like https://host:port"},
      {"https://host:0", "\"https://host:0\": the port must be between 1 and 65535"},
      {"https://[::1", "\"https://[::1\": is not a URL like https://host:port"},
      {"https://a:b@host", "\"https://a:b@host\": a user in a URL is not supported"},
      {"https://ho st", "\"https://ho st\": is not a URL like https://host:port"},
  };
  for (const Row& row : rows) {
    const auto url = parse_server_url(row.text);
    ASSERT_FALSE(url.ok()) << row.text;
    EXPECT_EQ(url.error().message, row.message);
  }
}

}  // namespace
}  // namespace rt
