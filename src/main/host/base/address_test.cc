// Addresses as flags give them.
#include "main/host/base/address.h"

#include <gtest/gtest.h>

namespace volcano_main {
namespace {

TEST(Address, a_flag_names_a_host_and_a_port) {
  struct Row {
    std::string_view text, host;
    int port;  // -1: refused
  };
  constexpr Row kRows[] = {{"127.0.0.1:8080", "127.0.0.1", 8080},
                           {"[::1]:8080", "::1", 8080},
                           {":8080", "", 8080},
                           {":0", "", 0},
                           {"0.0.0.0:65535", "0.0.0.0", 65535},
                           {"127.0.0.1", "", -1},
                           {"127.0.0.1:", "", -1},
                           {"127.0.0.1:65536", "", -1},
                           {"127.0.0.1:-1", "", -1},
                           {"127.0.0.1:80x", "", -1},
                           {"", "", -1}};
  for (const Row& row : kRows) {
    const auto parsed = parse_host_port(row.text);
    ASSERT_EQ(parsed.ok(), row.port >= 0) << row.text;
    if (!parsed.ok()) {
      EXPECT_NE(parsed.error().message.find(row.text), std::string::npos) << parsed.error().message;
      continue;
    }
    EXPECT_EQ(parsed->host, row.host) << row.text;
    EXPECT_EQ(parsed->port, row.port) << row.text;
  }
}

TEST(Address, an_ip_flag_is_an_ip_address) {
  for (const char* good : {"127.0.0.1", "0.0.0.0", "::1", "fe80::1"})
    EXPECT_TRUE(check_ip("--address", good).ok()) << good;
  for (const char* bad : {"", "localhost", "10.0.0", "10.0.0.256", "10.0.0.1:80", "10.0.0.1 "}) {
    const base::Status checked = check_ip("--address", bad);
    ASSERT_FALSE(checked.ok()) << bad;
    EXPECT_EQ(checked.error().message.find("--address"), 0U) << checked.error().message;
  }
}

TEST(Address, a_server_on_every_address_is_reached_at_home) {
  EXPECT_EQ(https_url("10.1.2.3", 6443), "https://10.1.2.3:6443");
  EXPECT_EQ(https_url("0.0.0.0", 6443), "https://127.0.0.1:6443");
  EXPECT_TRUE(is_any_address("0.0.0.0"));
  EXPECT_FALSE(is_any_address("127.0.0.1"));
}

}  // namespace
}  // namespace volcano_main
