// The messages of nf_tables, in the order in which `nft -f` sends them.
#include "colocation/machine/packet_rules.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/format.h"
#include "base/split.h"

namespace colocation {

namespace {

constexpr const char* kShared = "offline";  // the chain that those of interfaces lead to
constexpr const char* kSeen = "seen";
constexpr const char* kDropped = "dropped";
// A packet that the limit could never let through would stand for ever; those of an interface have 64 KiB at most
// before they are cut.
constexpr std::uint32_t kBurstBytes = 128 << 10;

std::string header(std::uint8_t family, std::uint16_t resource) {
  const nfgenmsg own{family, NFNETLINK_V0, htons(resource)};
  return {reinterpret_cast<const char*>(&own), sizeof own};
}

constexpr std::uint16_t nft_type(int message) {
  return static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | message);
}

// Writes messages about one table.
class Transaction {
 public:
  explicit Transaction(const std::string& table) : table_(table) {
    out_.begin(NFNL_MSG_BATCH_BEGIN, 0, header(AF_UNSPEC, NFNL_SUBSYS_NFTABLES));
  }

  NetlinkMessages end() {
    // One is enough, and all of them would not fit into the socket.
    out_.request_acknowledgement();
    out_.begin(NFNL_MSG_BATCH_END, 0, header(AF_UNSPEC, NFNL_SUBSYS_NFTABLES));
    return std::move(out_);
  }
  void make_table() { begin(NFT_MSG_NEWTABLE, NLM_F_CREATE, NFTA_TABLE_NAME); }
  void remove_table() { begin(NFT_MSG_DELTABLE, 0, NFTA_TABLE_NAME); }

  void make_counter(const char* name) {
    begin(NFT_MSG_NEWOBJ, NLM_F_CREATE, NFTA_OBJ_TABLE);
    out_.add_text(NFTA_OBJ_NAME, name);
    out_.add_number(NFTA_OBJ_TYPE, NFT_OBJECT_COUNTER);
    out_.end_nest(out_.begin_nest(NFTA_OBJ_DATA));
  }

  void make_shared_chain() {
    begin(NFT_MSG_NEWCHAIN, NLM_F_CREATE, NFTA_CHAIN_TABLE);
    out_.add_text(NFTA_CHAIN_NAME, kShared);
  }

  void make_ingress_chain(const std::string& interface) {
    begin(NFT_MSG_NEWCHAIN, NLM_F_CREATE, NFTA_CHAIN_TABLE);
    out_.add_text(NFTA_CHAIN_NAME, chain_of(interface));
    const std::size_t hook = out_.begin_nest(NFTA_CHAIN_HOOK);
    out_.add_number(NFTA_HOOK_HOOKNUM, NF_NETDEV_INGRESS);
    out_.add_number(NFTA_HOOK_PRIORITY, 0);
    out_.add_text(NFTA_HOOK_DEV, interface);
    out_.end_nest(hook);
    out_.add_number(NFTA_CHAIN_POLICY, NF_ACCEPT);
    out_.add_text(NFTA_CHAIN_TYPE, "filter");
  }

  void add_jump(const std::string& interface) {
    begin_rule(chain_of(interface));
    add_verdict(NFT_JUMP, kShared);
    end_rule();
  }
  void add_count() {
    begin_rule(kShared);
    add_counter(kSeen);
    end_rule();
  }
  void add_drop_above(std::int64_t bytes_per_second) {
    begin_rule(kShared);
    add_limit(bytes_per_second);
    add_counter(kDropped);
    add_verdict(NF_DROP, nullptr);
    end_rule();
  }

 private:
  static std::string chain_of(const std::string& interface) { return "from-" + interface; }

  void begin(int message, int flags, std::uint16_t table_attribute) {
    out_.begin(nft_type(message), static_cast<std::uint16_t>(flags), header(NFPROTO_NETDEV, 0));
    out_.add_text(table_attribute, table_);
  }
  void begin_rule(const std::string& chain) {
    begin(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND, NFTA_RULE_TABLE);
    out_.add_text(NFTA_RULE_CHAIN, chain);
    expressions_ = out_.begin_nest(NFTA_RULE_EXPRESSIONS);
  }
  void end_rule() { out_.end_nest(expressions_); }

  template <class Write>
  void add_expression(const char* name, Write write) {
    const std::size_t element = out_.begin_nest(NFTA_LIST_ELEM);
    out_.add_text(NFTA_EXPR_NAME, name);
    const std::size_t data = out_.begin_nest(NFTA_EXPR_DATA);
    write();
    out_.end_nest(data);
    out_.end_nest(element);
  }
  void add_counter(const char* name) {
    add_expression("objref", [&] {
      out_.add_number(NFTA_OBJREF_IMM_TYPE, NFT_OBJECT_COUNTER);
      out_.add_text(NFTA_OBJREF_IMM_NAME, name);
    });
  }
  void add_limit(std::int64_t bytes_per_second) {
    add_expression("limit", [&] {
      out_.add_number64(NFTA_LIMIT_RATE, static_cast<std::uint64_t>(bytes_per_second));
      out_.add_number64(NFTA_LIMIT_UNIT, 1);  // a second
      out_.add_number(NFTA_LIMIT_BURST, kBurstBytes);
      out_.add_number(NFTA_LIMIT_TYPE, NFT_LIMIT_PKT_BYTES);
      out_.add_number(NFTA_LIMIT_FLAGS, NFT_LIMIT_F_INV);
    });
  }
  void add_verdict(int code, const char* chain) {
    add_expression("immediate", [&] {
      out_.add_number(NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
      const std::size_t data = out_.begin_nest(NFTA_IMMEDIATE_DATA);
      const std::size_t verdict = out_.begin_nest(NFTA_DATA_VERDICT);
      out_.add_number(NFTA_VERDICT_CODE, static_cast<std::uint32_t>(code));
      if (chain != nullptr) out_.add_text(NFTA_VERDICT_CHAIN, chain);
      out_.end_nest(verdict);
      out_.end_nest(data);
    });
  }

  std::string table_;
  NetlinkMessages out_;
  std::size_t expressions_ = 0;
};

std::int64_t bounded(std::uint64_t bytes) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace

std::string packet_rules_text(const PacketRules& rules) {
  if (rules.interfaces.empty()) return "none";
  return base::format("{}: {} bytes/s", base::join(rules.interfaces, " "), rules.bytes_per_second);
}

NetlinkMessages packet_rules_transaction(const std::string& table, const PacketRules& rules) {
  Transaction all(table);
  // Named first, so that one that is not there is no error.
  all.make_table();
  all.remove_table();
  if (rules.interfaces.empty()) return all.end();
  all.make_table();
  for (const char* name : {kSeen, kDropped}) all.make_counter(name);
  all.make_shared_chain();
  all.add_count();
  if (rules.bytes_per_second < kPacketRateMax) all.add_drop_above(rules.bytes_per_second);
  for (const std::string& interface : rules.interfaces) {
    all.make_ingress_chain(interface);
    all.add_jump(interface);
  }
  return all.end();
}

NetlinkMessages packet_counts_request(const std::string& table) {
  NetlinkMessages request;
  request.begin(nft_type(NFT_MSG_GETOBJ), NLM_F_DUMP, header(NFPROTO_NETDEV, 0));
  request.add_text(NFTA_OBJ_TABLE, table);
  return request;
}

std::optional<PacketCounts> packet_counts(const std::string& table, const std::vector<NetlinkAnswer>& answers) {
  PacketCounts counts;
  std::set<std::string_view> found;
  for (const NetlinkAnswer& answer : answers) {
    if (answer.type != nft_type(NFT_MSG_NEWOBJ) || answer.payload.size() < sizeof(nfgenmsg)) continue;
    const NetlinkAttributes object = netlink_attributes(std::string_view(answer.payload).substr(sizeof(nfgenmsg)));
    const auto data = object.find(NFTA_OBJ_DATA);
    if (netlink_text(object, NFTA_OBJ_TABLE) != table || data == object.end()) continue;
    const std::int64_t bytes = bounded(netlink_number64(netlink_attributes(data->second), NFTA_COUNTER_BYTES));
    const std::string_view name = netlink_text(object, NFTA_OBJ_NAME);
    if (name == kSeen) counts.seen_bytes = bytes;
    if (name == kDropped) counts.dropped_bytes = bytes;
    found.insert(name);
  }
  if (!found.contains(kSeen) || !found.contains(kDropped)) return std::nullopt;
  return counts;
}

}  // namespace colocation
