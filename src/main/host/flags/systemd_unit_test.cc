// Units of systemd: no word of a command line is taken for a setting.
#include "main/host/flags/systemd_unit.h"

#include <gtest/gtest.h>

namespace volcano_main {
namespace {

std::string line_of(const std::string& unit, std::string_view key) {
  const std::size_t at = unit.find(std::string("\n") + std::string(key) + "=");
  return at == std::string::npos ? "" : unit.substr(at + 1, unit.find('\n', at + 1) - at - 1);
}

TEST(SystemdUnit, words_with_spaces_and_specifiers_stay_words) {
  const std::string unit =
      systemd_unit({.program = "/opt/my volcano/bin/volcano",
                    .arguments = {"--data", "/srv/a b", "--node-name", "50%\"$HOME\"", "line\nExecStop=/bin/evil"},
                    .folder = "/srv/%h",
                    .user = "jane"});
  EXPECT_EQ(
      line_of(unit, "ExecStart"),
      "ExecStart=\"/opt/my volcano/bin/volcano\" up \"--data\" \"/srv/a b\" \"--node-name\" \"50%%\\\"$$HOME\\\"\" "
      "\"line\\nExecStop=/bin/evil\"");
  EXPECT_EQ(line_of(unit, "ExecStop"), "");
  EXPECT_EQ(line_of(unit, "WorkingDirectory"), "WorkingDirectory=/srv/%%h");
  EXPECT_EQ(line_of(unit, "User"), "User=jane");
  EXPECT_EQ(line_of(systemd_unit({.program = "/v"}), "User"), "");
}

TEST(SystemdUnit, pods_outlive_a_restart) {
  const auto unit = unit_of_up({"--data", "/var/lib/volcano"}, {.data = "/var/lib/volcano"});
  ASSERT_TRUE(unit.ok()) << unit.error().message;
  EXPECT_NE(unit->find("--leave-pods"), std::string::npos);
  EXPECT_EQ(line_of(*unit, "KillMode"), "KillMode=process");
}

}  // namespace
}  // namespace volcano_main
