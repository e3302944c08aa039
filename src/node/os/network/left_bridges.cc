// Claims, and reading what iproute2 lists.
#include "node/os/network/left_bridges.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "node/os/command.h"
#include "node/os/pod_folders.h"

namespace node {

using api::Json;

namespace {

constexpr std::string_view kAliasBegin = "volcano:";

// "vcbr" and eight hexadecimal digits, as Network names them.
bool is_our_name(std::string_view name) {
  constexpr std::string_view kBegin = "vcbr";
  return name.size() == kBegin.size() + 8 && name.starts_with(kBegin) &&
         name.find_first_not_of("0123456789abcdef", kBegin.size()) == std::string_view::npos;
}

bool is_subnet(const std::string& text) {
  constexpr std::string_view kEnd = "/24";
  in_addr address{};
  return text.ends_with(kEnd) && ::inet_pton(AF_INET, text.substr(0, text.size() - kEnd.size()).c_str(), &address) == 1;
}

std::vector<LeftBridge> listed_bridges(std::string_view own) {
  const auto shown = run_command({"ip", "-json", "link", "show"});
  if (!shown.ok() || shown->exit_code != 0) return {};
  const auto links = api::parse_json(shown->out);
  return links.ok() ? unused_bridges(*links, own) : std::vector<LeftBridge>();
}

}  // namespace

std::optional<BridgeClaim> BridgeClaim::take(const std::string& bridge) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string text = "volcano/" + bridge;  // behind a zero byte: no file
  text.copy(name.sun_path + 1, sizeof(name.sun_path) - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  BridgeClaim claim(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (claim.socket_ < 0 || ::bind(claim.socket_, reinterpret_cast<const sockaddr*>(&name), size) != 0) return {};
  return claim;
}

BridgeClaim::~BridgeClaim() {
  if (socket_ >= 0) ::close(socket_);
}

bool has_bridges() {
  const std::vector<std::string> names = list_folder("/sys/class/net");
  return std::any_of(names.begin(), names.end(), [](const std::string& name) { return is_our_name(name); });
}

std::string bridge_alias(const std::string& subnet) { return std::string(kAliasBegin) + subnet; }

std::vector<LeftBridge> unused_bridges(const Json& links, std::string_view own) {
  std::set<std::string_view> used;
  for (const Json& link : links.items()) used.insert(link["master"].as_string());
  std::vector<LeftBridge> out;
  for (const Json& link : links.items()) {
    const std::string_view name = link["ifname"].as_string(), alias = link["ifalias"].as_string();
    if (!is_our_name(name) || name == own || used.contains(name) || !alias.starts_with(kAliasBegin)) continue;
    std::string subnet(alias.substr(kAliasBegin.size()));
    if (is_subnet(subnet)) out.push_back({std::string(name), std::move(subnet)});
  }
  return out;
}

std::vector<ClaimedBridge> claim_left_bridges(std::string_view own) {
  std::vector<ClaimedBridge> out;
  for (LeftBridge& one : listed_bridges(own))
    if (auto claim = BridgeClaim::take(one.name)) out.push_back({std::move(one), std::move(*claim)});
  if (out.empty()) return out;
  // Once more: before the claim was ours somebody may have come, plugged in, and gone.
  const std::vector<LeftBridge> now = listed_bridges(own);
  std::erase_if(out, [&](const ClaimedBridge& one) { return std::ranges::find(now, one.bridge) == now.end(); });
  return out;
}

}  // namespace node
