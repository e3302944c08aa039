// Servers that are reached through the proxy of the environment.
#include "rt/http/client/proxy_environment.h"

#include <gtest/gtest.h>

namespace rt {
namespace {

TEST(ProxyEnvironment, leaves_out_this_machine_and_who_is_in_the_list) {
  const struct {
    const char *no_proxy, *host;
    int port;
    bool through;
  } rows[] = {
      {"", "far.example", 443, true},
      {"", "localhost", 443, false},
      {"", "127.0.0.5", 443, false},
      {"", "::1", 443, false},
      {"", "10.0.0.1", 443, true},
      {"*", "far.example", 443, false},
      {"a, *", "far.example", 443, false},
      {"far.example", "far.example", 443, false},
      {"FAR.example", "Far.Example.", 443, false},
      {"example", "far.example", 443, false},
      {"ample", "far.example", 443, true},
      {".example", "far.example", 443, false},
      {".far.example", "far.example", 443, true},
      {"*.example", "far.example", 443, false},
      {"far.example:6443", "far.example", 443, true},
      {"far.example:443", "far.example", 443, false},
      {"10.0.0.1", "10.0.0.1", 443, false},
      {"10.0.0.1", "10.0.0.10", 443, true},
      {"10.0.0.1:6443", "10.0.0.1", 443, true},
      {"0.0.1", "10.0.0.1", 443, true},
      {"10.0.0.0/8", "10.9.9.9", 443, false},
      {"10.1.2.3/8", "10.9.9.9", 443, false},
      {"10.0.0.0/8", "11.0.0.1", 443, true},
      {"10.0.0.0/99,x/y", "10.0.0.1", 443, true},
      {"fd00::/8", "fd00::1", 443, false},
      {"fd00::/8", "10.0.0.1", 443, true},
      {"fd00::1", "fd00::1", 443, false},
      {"[fd00::1]:443", "fd00::1", 443, false},
      {"[fd00::1]:6443", "fd00::1", 443, true},
      {",, ,:443,.,[", "far.example", 443, true},
  };
  for (const auto& row : rows) {
    const auto proxy =
        proxy_of_environment("http://proxy:3128", row.no_proxy, row.host, static_cast<std::uint16_t>(row.port));
    ASSERT_TRUE(proxy.ok()) << proxy.error().message;
    EXPECT_EQ(proxy->has_value(), row.through) << row.no_proxy << " " << row.host;
  }
}

TEST(ProxyEnvironment, may_leave_out_the_scheme_and_says_what_is_not_supported) {
  EXPECT_FALSE(*proxy_of_environment("", "", "h", 443));
  EXPECT_EQ((*proxy_of_environment("proxy:3128", "", "h", 443))->host, "proxy");
  EXPECT_EQ((*proxy_of_environment("ann:b@proxy:3128", "", "h", 443))->authorization, "Basic YW5uOmI=");
  EXPECT_EQ(proxy_of_environment("socks5://proxy", "", "h", 443).error().message,
            "HTTPS_PROXY: socks5:// is not supported, only http:// proxies are");
  EXPECT_FALSE(*proxy_of_environment("socks5://proxy", "h", "h", 443));  // it is not asked
}

}  // namespace
}  // namespace rt
