// The lines, and how systemd reads words.
#include "main/host/flags/systemd_unit.h"

#include <pwd.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "base/format.h"

namespace volcano_main {
namespace {

// Specifiers and variables are not meant, and a word may have spaces and quotes.
std::string quoted(const std::string& word) {
  std::string out = "\"";
  for (const char c : word) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '%' || c == '$') out += c;
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + '"';
}

// For settings that are one word each, without quotes.
std::string unquoted(const std::string& word) {
  std::string out;
  for (const char c : word) {
    if (c == '%') out += c;
    out += c;
  }
  return out;
}

}  // namespace

std::string systemd_unit(const UnitFacts& facts) {
  std::string command = quoted(facts.program) + " up";
  for (const std::string& argument : facts.arguments) command += " " + quoted(argument);
  const std::string user = facts.user.empty() ? "" : base::format("User={}\n", unquoted(facts.user));
  return base::format(
      "[Unit]\n"
      "Description=Volcano: a cluster on this machine\n"
      "Wants=network-online.target\n"
      "After=network-online.target\n"
      "StartLimitIntervalSec=0\n"
      "\n"
      "[Service]\n"
      "Type=exec\n"
      "ExecStart={}\n"
      "ExecReload=/bin/kill -HUP $MAINPID\n"
      "WorkingDirectory={}\n"
      "{}"
      "Restart=always\n"
      "RestartSec=2\n"
      "# Pods go on while the program is restarted, and it makes control groups for them.\n"
      "KillMode=process\n"
      "Delegate=yes\n"
      "TimeoutStopSec=45\n"
      "LimitNOFILE=1048576\n"
      "LimitMEMLOCK=infinity\n"
      "TasksMax=infinity\n"
      "OOMScoreAdjust=-900\n"
      "\n"
      "[Install]\n"
      "WantedBy=multi-user.target\n",
      command, unquoted(facts.folder), user);
}

base::Result<std::string> unit_of_up(const std::vector<std::string>& arguments, const UpOptions& options) {
  std::error_code error;
  UnitFacts facts;
  facts.program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  facts.folder = std::filesystem::current_path(error).string();
  if (facts.program.empty() || facts.folder.empty()) return base::make_error(base::Code::kUnavailable, error.message());
  if (std::filesystem::exists(std::filesystem::path(facts.program).parent_path().parent_path() / "CMakeCache.txt",
                              error))
    std::cerr << base::format(
        "note: the unit runs {}, which the next build changes; `volcano install` puts a program and a unit in place\n",
        facts.program);
  for (const std::string& argument : arguments)
    if (!argument.starts_with("--systemd")) facts.arguments.push_back(argument);
  facts.arguments.push_back("--data=" + options.data);
  if (!options.leave_pods) facts.arguments.emplace_back("--leave-pods");
  if (const passwd* user = getuid() == 0 ? nullptr : getpwuid(getuid())) facts.user = user->pw_name;
  return systemd_unit(facts);
}

}  // namespace volcano_main
