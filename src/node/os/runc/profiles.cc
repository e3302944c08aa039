// Reading profiles.
#include "node/os/runc/profiles.h"

#include "base/format.h"
#include "node/machine/security_context.h"
#include "node/os/pod_folders.h"
#include "rt/files/rooted_files.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::size_t kProfileMax = 4 << 20;

}  // namespace

base::Result<Json> seccomp_profile(const std::string& folder, const std::string& name) {
  const auto failed = [&](std::string_view why) {
    return make_error(Code::kInvalid, base::format("seccompProfile.localhostProfile {:?}: {}", name, why));
  };
  const auto text = rt::read_rooted_file({folder, name}, kProfileMax);
  if (!text.ok()) return failed(text.error().message);
  auto json = api::parse_json(*text);
  if (!json.ok()) return failed(json.error().message);
  if (!(*json)["defaultAction"].as_string().starts_with("SCMP_ACT_")) return failed("it has no defaultAction");
  return std::move(*json);
}

AppArmor read_apparmor() {
  AppArmor found;
  found.enabled = read_text("/sys/module/apparmor/parameters/enabled").starts_with('Y');
  if (!found.enabled) return found;
  // "NAME (enforce)" a line
  const std::string text = read_text("/sys/kernel/security/apparmor/profiles");
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    const std::string line = text.substr(begin, end - begin);
    found.profiles.insert(line.substr(0, line.rfind(" (")));
    begin = end + 1;
  }
  return found;
}

std::string apparmor_profile_for(const Confinement& wanted, const AppArmor& machine) {
  if (!machine.enabled || wanted.kind == Confinement::Kind::kNone) return {};
  if (wanted.kind == Confinement::Kind::kNamed) return wanted.name;
  const std::string usual(kAppArmorDefault);
  return machine.profiles.contains(usual) ? usual : std::string();
}

}  // namespace node
