// The words that lead the kernel from one set of policy rules to another.
#include <algorithm>

#include "api/ipv4.h"
#include "base/format.h"
#include "node/policies/policy_rules.h"

namespace node {

namespace {

constexpr std::size_t kElementsOfALine = 1000;

// "10.200.7.255" of "10.200.7.0/24".
std::string broadcast_of(const std::string& subnet) {
  const auto range = api::parse_ipv4_range(subnet);
  return api::ipv4_text(range ? static_cast<std::uint32_t>(range->first + range->size() - 1) : UINT32_MAX);
}

// The parts of a table that no policy changes. A packet of a pod's egress is judged before one of another's ingress,
// and must pass both. Answers pass; what the opener of a connection says is judged again and again, so that a policy
// that comes later ends the connections that it does not allow.
std::string base_text(const PolicyTable& table) {
  std::string text = base::format("table ip {0}\ndelete table ip {0}\ntable ip {0} {{\n", table.name);
  text += "map coming {\n type ipv4_addr : verdict\n}\nmap leaving {\n type ipv4_addr : verdict\n}\n";
  text += "set self {\n type ipv4_addr . ipv4_addr\n}\n";
  text += base::format(
      "chain {} {{\n"
      "ct state invalid drop\n"
      "tcp flags & (syn | ack) == syn reject with icmp type admin-prohibited\n"
      "meta l4proto tcp reject with tcp reset\n"
      "reject with icmp type admin-prohibited\n"
      "}}\n",
      kRefuseChain);
  // A pod cannot be kept from itself. Errors about a connection belong to it.
  static constexpr std::string_view kPass =
      "ct state established,related ct direction reply accept\n"
      "meta l4proto icmp ct state related accept\n"
      "ip saddr . ip daddr @self accept\n";
  const auto chain = [&](const char* name, int priority, const std::string& rules) {
    text += base::format("chain {} {{\ntype filter hook forward priority {}; policy accept;\n{}}}\n", name, priority,
                         rules);
  };
  chain("from_pods", -10, base::format("iifname != \"{}\" accept\n{}ip saddr vmap @leaving\n", table.bridge, kPass));
  // Packets for all pods at once have no address that a policy could be found by.
  chain("to_pods", -9,
        base::format("oifname != \"{0}\" accept\nip daddr != {1} drop\nip daddr {2} drop\n"
                     "{3}ip daddr vmap @coming\n",
                     table.bridge, table.subnet, broadcast_of(table.subnet), kPass));
  return text + "}\n";
}

class Words {
 public:
  explicit Words(std::string table) : table_(std::move(table)) {}

  void line(const char* verb, const char* what, const std::string& rest) {
    text_ += base::format("{} {} ip {} {}\n", verb, what, table_, rest);
  }
  // Many to a line: nft reads each line as a command.
  void elements(const char* verb, const std::string& set, const std::vector<std::string>& all) {
    for (std::size_t at = 0; at < all.size(); at += kElementsOfALine) {
      std::string list;
      for (std::size_t i = at; i < std::min(all.size(), at + kElementsOfALine); ++i)
        list += (i == at ? "" : ", ") + all[i];
      line(verb, "element", base::format("{} {{ {} }}", set, list));
    }
  }
  std::string take() { return std::move(text_); }

 private:
  std::string table_;
  std::string text_;
};

std::string text_of(std::uint32_t address) { return api::ipv4_text(address); }
std::string text_of(const PodPort& port) {
  return base::format("{} . {} . {}", api::ipv4_text(port.address), port.protocol, port.port);
}

template <class T>
const T* part_of(const PolicyParts<T>& parts, const std::string& name) {
  const auto found = parts.find(name);
  return found == parts.end() ? nullptr : found->second.get();
}
template <class T>
bool same(const PolicyParts<T>& parts, const std::string& name, const std::shared_ptr<const T>& part) {
  const auto found = parts.find(name);
  return found != parts.end() && (found->second == part || *found->second == *part);
}

// Elements of sets in `from` that are not in those of `other`; a set that is not in `other` is left out if `shared`.
template <class T>
void set_elements(Words& words, const char* verb, const PolicyParts<std::set<T>>& from,
                  const PolicyParts<std::set<T>>& other, bool shared) {
  for (const auto& [name, set] : from) {
    const std::set<T>* there = part_of(other, name);
    if (there == set.get() || (shared && there == nullptr)) continue;
    std::vector<std::string> changed;
    for (const T& one : *set)
      if (there == nullptr || !there->contains(one)) changed.push_back(text_of(one));
    words.elements(verb, name, changed);
  }
}

using Judges = std::map<std::uint32_t, std::string>;
void map_elements(Words& words, const char* verb, const char* map, const Judges& from, const Judges& other) {
  std::vector<std::string> changed;
  for (const auto& [address, chain] : from)
    if (const auto found = other.find(address); found == other.end() || found->second != chain)
      changed.push_back(base::format("{} : goto {}", api::ipv4_text(address), chain));
  words.elements(verb, map, changed);
}

void write_elements(Words& words, const char* verb, const PolicyRules& from, const PolicyRules& other, bool shared) {
  map_elements(words, verb, "coming", from.coming, other.coming);
  map_elements(words, verb, "leaving", from.leaving, other.leaving);
  std::vector<std::string> self;
  for (const Judges* judges : {&from.coming, &from.leaving})
    for (const auto& [address, chain] : *judges)
      if (!other.isolates(address) && (judges == &from.coming || !from.coming.contains(address)))
        self.push_back(base::format("{0} . {0}", api::ipv4_text(address)));
  words.elements(verb, "self", self);
  set_elements(words, verb, from.peers, other.peers, shared);
  set_elements(words, verb, from.ports, other.ports, shared);
}

template <class T>
void new_sets(Words& words, const PolicyParts<T>& old, const PolicyParts<T>& now, const char* type) {
  for (const auto& [name, set] : now)
    if (!old.contains(name)) words.line("add", "set", base::format("{} {{ type {}; }}", name, type));
}
template <class T>
void gone_parts(Words& words, const char* what, const PolicyParts<T>& old, const PolicyParts<T>& now) {
  for (const auto& [name, part] : old)
    if (!now.contains(name)) words.line("delete", what, name);
}

template <class T>
bool equal(const PolicyParts<T>& one, const PolicyParts<T>& other) {
  return std::ranges::equal(one, other, [](const auto& a, const auto& b) {
    return a.first == b.first && (a.second == b.second || *a.second == *b.second);
  });
}

}  // namespace

bool operator==(const PolicyRules& one, const PolicyRules& other) {
  return one.coming == other.coming && one.leaving == other.leaving && equal(one.peers, other.peers) &&
         equal(one.ports, other.ports) && equal(one.chains, other.chains);
}

std::string transaction(const PolicyTable& table, const PolicyRules* before, const PolicyRules& after) {
  static const PolicyRules kNothing;
  const PolicyRules& old = before != nullptr ? *before : kNothing;
  Words words(table.name);
  // Chains and sets that others point at come first and go last.
  new_sets(words, old.peers, after.peers, "ipv4_addr");
  new_sets(words, old.ports, after.ports, "ipv4_addr . inet_proto . inet_service");
  for (const auto& [chain, rules] : after.chains)
    if (!old.chains.contains(chain)) words.line("add", "chain", chain);
  write_elements(words, "delete", old, after, true);
  for (const auto& [chain, rules] : old.chains)
    if (!same(after.chains, chain, rules)) words.line("flush", "chain", chain);
  for (const auto& [chain, rules] : after.chains) {
    if (same(old.chains, chain, rules)) continue;
    for (const std::string& rule : *rules) words.line("add", "rule", base::format("{} {}", chain, rule));
  }
  gone_parts(words, "chain", old.chains, after.chains);
  gone_parts(words, "set", old.peers, after.peers);
  gone_parts(words, "set", old.ports, after.ports);
  write_elements(words, "add", after, old, false);
  return before != nullptr ? words.take() : base_text(table) + words.take();
}

}  // namespace node
