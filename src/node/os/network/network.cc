// Making and removing the bridge, namespaces and interfaces.
#include "node/os/network/network.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>

#include "api/json/json.h"
#include "base/format.h"
#include "base/log.h"
#include "base/number.h"
#include "node/os/command.h"
#include "node/os/network/guard.h"
#include "node/os/network/left_bridges.h"
#include "node/os/pod_folders.h"
#include "rt/files/files.h"
#include "rt/tls/tls.h"

namespace node {

using api::Json;

namespace {

constexpr long kNamespaceMagic = 0x6e736673;

std::string interface_of(const std::string& pod_uid) { return "vc" + rt::sha256_hex(pod_uid).substr(0, 12); }

base::Status batch(const std::vector<std::string>& before, const std::string& lines) {
  std::vector<std::string> words = before;
  words.insert(words.end(), {"ip", "-batch", "-"});
  return must_run(words, {.input = lines});
}

void touch(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
}

bool write_setting(const std::string& path, std::string_view value) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool written = fd >= 0 && ::write(fd, value.data(), value.size()) == static_cast<ssize_t>(value.size());
  if (fd >= 0) ::close(fd);
  return written;
}

// The files that namespaces are kept on, empty.
void clear_files(const PodNamespaces& pod) {
  for (const std::string* file : {&pod.files.network, &pod.files.ipc, &pod.files.user})
    ::umount2(file->c_str(), MNT_DETACH);
  touch(pod.files.network);
  touch(pod.files.ipc);
  if (pod.first_id) touch(pod.files.user);
}

// The pod's side of the pair, by one program: it makes the namespaces, if that is left to do, and the interfaces in
// them. The other side comes to be where this process is.
base::Status make_pod_side(const PodNamespaces& pod, bool fresh, const std::string& name, const std::string& address,
                           const std::string& gateway) {
  const std::string network = "--net=" + pod.files.network;
  std::vector<std::string> before{"nsenter", network};
  if (fresh) {
    clear_files(pod);
    if (pod.first_id) {
      TRY_VOID(pin_namespaces(pod.files, *pod.first_id));
    } else {
      before = {"unshare", network, "--ipc=" + pod.files.ipc};
    }
  }
  return batch(before,
               base::format("link set lo up\nlink add eth0 address {} type veth peer name {} netns /proc/{}/ns/net\n"
                            "addr add {}/24 dev eth0\nlink set eth0 up\nroute add default via {}\n",
                            hardware_address(address), name, ::getpid(), address, gateway));
}

bool change_interface(int request, ifreq& change) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool changed = socket >= 0 && ::ioctl(socket, request, &change) == 0;
  if (socket >= 0) ::close(socket);
  return changed;
}

// This machine's side of the pair. Without a program where the kernel lets us, since every pod waits for this. An
// answer of the bridge goes back to the pod that asked: it may be a service's endpoint to itself.
base::Status plug_in(const std::string& name, const std::string& bridge) {
  ifreq join{}, flags{};
  bridge.copy(join.ifr_name, IFNAMSIZ - 1);
  join.ifr_ifindex = static_cast<int>(::if_nametoindex(name.c_str()));
  name.copy(flags.ifr_name, IFNAMSIZ - 1);
  flags.ifr_flags = IFF_UP | IFF_BROADCAST | IFF_MULTICAST;
  if (join.ifr_ifindex != 0 && change_interface(SIOCBRADDIF, join) &&
      write_setting(base::format("/sys/class/net/{}/brport/hairpin_mode", name), "1") &&
      change_interface(SIOCSIFFLAGS, flags))
    return {};
  return batch({}, base::format("link set {0} master {1}\nlink set {0} type bridge_slave hairpin on\nlink set {0} up\n",
                                name, bridge));
}

// A bridge whose address nobody has set takes the lowest of its ports', and another one whenever pods come and go:
// until a pod's neighbour table has learnt it, nothing of the pod leaves. One that an earlier version made keeps what
// it has.
void keep_address(const std::string& bridge) {
  const std::string now = read_text(base::format("/sys/class/net/{}/address", bridge));
  (void)run_command({"ip", "link", "set", "dev", bridge, "address", now.substr(0, now.find('\n'))});
}

// Rules that let pods out and between them; a machine without netfilter does without.
void change_rules(bool add, const std::string& bridge, const std::string& subnet) {
  const char* verb = add ? "-A" : "-D";
  const char* first = add ? "-I" : "-D";
  (void)run_command(
      {"iptables", "-w", "-t", "nat", verb, "POSTROUTING", "-s", subnet, "!", "-d", subnet, "-j", "MASQUERADE"});
  (void)run_command({"iptables", "-w", first, "FORWARD", "-i", bridge, "-j", "ACCEPT"});
  (void)run_command({"iptables", "-w", first, "FORWARD", "-o", bridge, "-j", "ACCEPT"});
  // Listeners on the host's loopback are not for pods, even where the machine routes such addresses.
  (void)run_command({"iptables", "-w", first, "INPUT", "-i", bridge, "-d", "127.0.0.0/8", "-j", "DROP"});
}

// The kernel drops packets for 127.0.0.0/8 that come from outside, unless it is told otherwise, for one interface or
// for all.
void close_loopback(const std::string& bridge) {
  (void)write_setting(base::format("/proc/sys/net/ipv4/conf/{}/route_localnet", bridge), "0");
  if (read_text(base::format("/proc/sys/net/ipv4/conf/{}/route_localnet", "all")).starts_with("1"))
    base::log_warning("node",
                      "net.ipv4.conf.all.route_localnet is 1: only packet filters keep pods from what listens on "
                      "this machine's loopback");
}

// Removes the bridges in this network namespace of programs that were killed for good.
void remove_left_bridges(const std::string& own) {
  for (const auto& [bridge, claim] : claim_left_bridges(own)) {
    change_rules(false, bridge.name, bridge.subnet);
    remove_tables_of(bridge.name);
    const base::Status gone = must_run({"ip", "link", "del", bridge.name});
    base::log_info("node", gone.ok() ? base::format("removed bridge {}, which nobody uses any more", bridge.name)
                                     : base::format("bridge {} stays: {}", bridge.name, gone.error().message));
  }
}

// The one who removes what is left may hold the claim for a moment.
std::optional<BridgeClaim> claim_own(const std::string& bridge) {
  for (int tried = 0; tried < 20; ++tried) {
    if (auto claim = BridgeClaim::take(bridge)) return claim;
    ::usleep(50'000);
  }
  return {};  // whoever has it keeps it from being removed just as well
}

}  // namespace

bool sees_bridged_packets() {
  static constexpr const char* kSettings = "/proc/sys/net/bridge";
  if (::access(kSettings, F_OK) == 0) return true;
  (void)run_command({"modprobe", "br_netfilter"});
  if (::access(kSettings, F_OK) != 0) return false;
  // Other bridges of the machine stay as they were: ours asks for it by itself.
  for (const char* name : {"iptables", "ip6tables", "arptables"})
    (void)write_setting(base::format("{}/bridge-nf-call-{}", kSettings, name), "0");
  return true;
}

bool is_namespace_file(const std::string& path) {
  struct statfs facts {};
  return ::statfs(path.c_str(), &facts) == 0 && facts.f_type == kNamespaceMagic;
}

base::Status Network::choose(const std::string& subnet) {
  if (!subnet.empty()) {
    const std::size_t last = subnet.rfind('.');
    if (last == std::string::npos || !subnet.ends_with(".0/24"))
      return base::make_error(base::Code::kBadRequest,
                              base::format("subnet {:?}: pods need a /24 such as 10.244.7.0/24", subnet));
    prefix_ = subnet.substr(0, last + 1);
    return {};
  }
  TRY(const CommandResult routes, run_command({"ip", "-4", "route", "show", "table", "all"}));
  const std::string hash = rt::sha256_hex(folder_);
  unsigned start = static_cast<unsigned>(std::stoul(hash.substr(0, 4), nullptr, 16));
  for (unsigned i = 0; i < 2048; ++i, ++start) {
    const std::string candidate = base::format("10.{}.{}.", 200 + start / 256 % 8, start % 256);
    if (routes.out.find(" " + candidate) != std::string::npos ||
        routes.out.find("\n" + candidate) != std::string::npos || routes.out.starts_with(candidate))
      continue;
    prefix_ = candidate;
    return {};
  }
  return base::make_error(base::Code::kUnavailable, "no free subnet for pods in 10.200.0.0/13");
}

base::Status Network::open(const std::string& folder, const std::string& subnet) {
  folder_ = folder;
  bridge_ = "vcbr" + rt::sha256_hex(folder).substr(0, 8);
  claim_ = claim_own(bridge_);
  const std::string path = folder + "/network.json";
  if (const auto kept = api::parse_json(read_text(path)); kept.ok() && subnet.empty()) {
    prefix_ = (*kept)["prefix"].str();
    forwarding_set_ = (*kept)["forwarding_set"].as_bool();
  } else {
    TRY_VOID(choose(subnet));
  }
  gateway_ = prefix_ + "1";
  return rt::write_file(
      path, Json::object({{"prefix", prefix_}, {"bridge", bridge_}, {"forwarding_set", forwarding_set_}}).dump(), 0600);
}

void Network::take(const std::string& ip) {
  const std::lock_guard lock(mutex_);
  used_.insert(ip);
}

// The kernel looks for a way before it looks at rules. A default route of the machine is one.
void Network::make_way_to_services() {
  if (services_.empty()) return;
  const auto way = run_command({"ip", "-4", "route", "get", services_.substr(0, services_.find('/'))});
  if (way.ok() && way->exit_code != 0) (void)run_command({"ip", "-4", "route", "add", services_, "dev", bridge_});
}

std::string hardware_address(const std::string& ip) {
  std::string out = "0a:58";  // locally administered
  for (std::size_t begin = 0; begin < ip.size();) {
    const std::size_t end = std::min(ip.find('.', begin), ip.size());
    out += base::format(":{:02x}", base::parse_number<std::uint8_t>(ip.substr(begin, end - begin)).value_or(0));
    begin = end + 1;
  }
  return out;
}

base::Status Network::ensure_bridge() {
  const std::lock_guard lock(mutex_);
  if (up_) return {};
  remove_left_bridges(bridge_);
  TRY(const CommandResult shown, run_command({"ip", "link", "show", "dev", bridge_}));
  if (shown.exit_code != 0) {
    TRY_VOID(batch({}, base::format("link add {0} address {3} type bridge\naddr add {1}/24 dev {0}\n"
                                    "link set {0} alias {2} up\n",
                                    bridge_, gateway_, bridge_alias(prefix_ + "0/24"), hardware_address(gateway_))));
    change_rules(true, bridge_, prefix_ + "0/24");
    const std::string forwarding = "/proc/sys/net/ipv4/ip_forward";
    if (read_text(forwarding).starts_with("0")) {
      forwarding_set_ = write_setting(forwarding, "1");
      TRY_VOID(rt::write_file(
          folder_ + "/network.json",
          Json::object({{"prefix", prefix_}, {"bridge", bridge_}, {"forwarding_set", forwarding_set_}}).dump(), 0600));
    }
  }
  keep_address(bridge_);
  (void)run_command({"ip", "link", "set", "dev", bridge_, "type", "bridge", "nf_call_iptables", "1"});
  make_way_to_services();
  close_loopback(bridge_);
  guard_.open(bridge_);
  up_ = true;
  return {};
}

std::string Network::free_address(const std::string& wanted) {
  const std::lock_guard lock(mutex_);
  if (wanted.starts_with(prefix_)) {
    used_.insert(wanted);
    return wanted;
  }
  // In turn, so that an address rests before somebody else has it.
  for (int tried = 0; tried < 253; ++tried) {
    const std::string ip = prefix_ + std::to_string(next_);
    next_ = next_ == 254 ? 2 : next_ + 1;
    if (used_.insert(ip).second) return ip;
  }
  return {};
}

base::Result<std::string> Network::connect(const std::string& pod_uid, const PodNamespaces& pod,
                                           const std::string& wanted) {
  TRY_VOID(ensure_bridge());
  const std::string& network_file = pod.files.network;
  const bool fresh = !is_namespace_file(network_file) || !is_namespace_file(pod.files.ipc) ||
                     (pod.first_id && !is_namespace_file(pod.files.user));
  const std::string name = interface_of(pod_uid);
  if (!fresh && !wanted.empty()) {
    take(wanted);
    guard_.let(name, hardware_address(wanted), wanted);
    return wanted;
  }
  if (::if_nametoindex(name.c_str()) != 0) (void)run_command({"ip", "link", "del", name});
  const std::string ip = free_address(wanted);
  if (ip.empty()) return base::make_error(base::Code::kUnavailable, base::format("no free address in {}0/24", prefix_));
  const auto connected = [&]() -> base::Status {
    TRY_VOID(make_pod_side(pod, fresh, name, ip, gateway_));
    guard_.let(name, hardware_address(ip), ip);
    return plug_in(name, bridge_);
  }();
  if (connected.ok()) return ip;
  disconnect(pod_uid, pod, ip);
  return connected.error();
}

void Network::disconnect(const std::string& pod_uid, const PodNamespaces& pod, const std::string& ip) {
  (void)run_command({"ip", "link", "del", interface_of(pod_uid)});
  for (const std::string* file : {&pod.files.network, &pod.files.ipc, &pod.files.user}) {
    ::umount2(file->c_str(), MNT_DETACH);
    ::unlink(file->c_str());
  }
  if (!ip.empty()) guard_.forget(interface_of(pod_uid), hardware_address(ip), ip);
  const std::lock_guard lock(mutex_);
  used_.erase(ip);
}

void Network::close() {
  const std::lock_guard lock(mutex_);
  guard_.close();
  const auto shown = run_command({"ip", "link", "show", "dev", bridge_});
  if (!shown.ok() || shown->exit_code != 0) return;
  change_rules(false, bridge_, prefix_ + "0/24");
  (void)run_command({"ip", "link", "del", bridge_});
  if (forwarding_set_ && !has_bridges()) {  // other clusters of this machine need it, too
    if (!write_setting("/proc/sys/net/ipv4/ip_forward", "0"))
      base::log_warning("node", "cannot restore net.ipv4.ip_forward");
  }
  up_ = false;
}

}  // namespace node
