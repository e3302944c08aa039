// The kernel's answers.
#include "colocation/machine/pod_network.h"

#include <linux/if_link.h>
#include <linux/net_namespace.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "colocation/files/kernel_text.h"

namespace colocation {

namespace {

template <class Header>
std::string_view bytes_of(const Header& header) {
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

// Pairs reach into a pod; other kinds (tunnels, VLANs) may have their lower end in another namespace, too.
bool is_pair(std::string_view kind) { return kind == "veth" || kind == "netkit"; }

class KernelNetwork : public PodNetwork {
 public:
  base::Result<std::vector<PodInterface>> interfaces() override {
    NetlinkMessages request;
    request.begin(RTM_GETLINK, NLM_F_DUMP, bytes_of(ifinfomsg{}));
    TRY(const std::vector<NetlinkAnswer> links, ask(NETLINK_ROUTE, request));
    std::vector<PodInterface> found;
    for (const NetlinkAnswer& link : links) {
      if (link.type != RTM_NEWLINK || link.payload.size() < sizeof(ifinfomsg)) continue;
      const NetlinkAttributes all = netlink_attributes(std::string_view(link.payload).substr(sizeof(ifinfomsg)));
      const auto info = all.find(IFLA_LINKINFO);
      if (info == all.end() || !all.contains(IFLA_LINK_NETNSID)) continue;
      const std::string_view name = netlink_text(all, IFLA_IFNAME);
      if (!is_pair(netlink_text(netlink_attributes(info->second), IFLA_INFO_KIND)) || !is_interface_name(name))
        continue;
      found.push_back({std::string(name), netlink_native(all, IFLA_LINK_NETNSID)});
    }
    return found;
  }

  std::optional<std::uint32_t> namespace_of(int pid) override {
    NetlinkMessages request;
    request.begin(RTM_GETNSID, 0, bytes_of(rtgenmsg{}));
    request.add_native(NETNSA_PID, static_cast<std::uint32_t>(pid));
    const auto answers = ask(NETLINK_ROUTE, request);
    if (!answers.ok()) return std::nullopt;
    for (const NetlinkAnswer& one : *answers) {
      if (one.type != RTM_NEWNSID || one.payload.size() < NLMSG_ALIGN(sizeof(rtgenmsg))) continue;
      const auto all = netlink_attributes(std::string_view(one.payload).substr(NLMSG_ALIGN(sizeof(rtgenmsg))));
      const std::uint32_t id = netlink_native(all, NETNSA_NSID);
      if (all.contains(NETNSA_NSID) && static_cast<std::int32_t>(id) != NETNSA_NSID_NOT_ASSIGNED) return id;
    }
    return std::nullopt;
  }

  base::Status set(const std::string& table, const PacketRules& rules) override {
    const auto done = ask(NETLINK_NETFILTER, packet_rules_transaction(table, rules));
    return done.ok() ? base::Status() : base::Status(done.error());
  }

  base::Result<PacketCounts> counts(const std::string& table) override {
    TRY(const std::vector<NetlinkAnswer> answers, ask(NETLINK_NETFILTER, packet_counts_request(table)));
    if (const auto found = packet_counts(table, answers)) return *found;
    return base::make_error(base::Code::kNotFound, "the table is gone");
  }

 private:
  // A socket for each question: nothing is left of one that failed.
  static base::Result<std::vector<NetlinkAnswer>> ask(int protocol, const NetlinkMessages& request) {
    TRY(NetlinkSocket socket, NetlinkSocket::open(protocol));
    return socket.exchange(request);
  }
};

}  // namespace

std::unique_ptr<PodNetwork> make_kernel_network() { return std::make_unique<KernelNetwork>(); }

}  // namespace colocation
