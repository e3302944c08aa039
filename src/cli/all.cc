// Every noun of vcctl.
#include "base/format.h"
#include "cli/vcctl.h"

namespace cli {

Command vcctl_root() {
  return {.name = "vcctl",
          .summary = "",
          .children = {job_commands(), jobflow_commands(), jobtemplate_commands(), queue_commands(), pod_commands(),
                       explain_commands(), top_command(), completion_command(), version_command()}};
}

// COMPAT(version-block): the six labels stay; the last two describe this program's toolchain.
std::string version_block(const std::string& version) {
#if defined(__x86_64__)
  constexpr std::string_view kArchitecture = "amd64";
#elif defined(__aarch64__)
  constexpr std::string_view kArchitecture = "arm64";
#else
  constexpr std::string_view kArchitecture = "unknown";
#endif
#ifdef VOLCANO_GIT_SHA
  constexpr std::string_view kSha = VOLCANO_GIT_SHA;
#else
  constexpr std::string_view kSha = "Not provided.";
#endif
  return base::format(
      "API Version: v1alpha1\nVersion: {}\nGit SHA: {}\nBuilt At: Not provided.\nGo Version: c++ {}\nGo OS/Arch: "
      "linux/{}\n",
      version.empty() ? "Not provided." : version, kSha, __VERSION__, kArchitecture);
}

Command version_command() {
  return {.name = "version", .summary = "Print the version information", .run = [](World& world, const Values&) {
            world.out += version_block(world.version);
            return base::Status();
          }};
}

}  // namespace cli
