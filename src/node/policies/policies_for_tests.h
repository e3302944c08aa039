// A made-up kernel for tests: it reads the rules of policies as nftables does, and says what passes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/ipv4.h"
#include "api/json/yaml.h"
#include "base/format.h"
#include "base/number.h"
#include "node/policies/policy_book.h"

namespace node::made_up {

struct Packet {
  std::uint32_t from = 0, to = 0;
  std::string protocol;
  std::int64_t port = 0;
};

class PolicyKernel {
 public:
  explicit PolicyKernel(const PolicyRules& rules) : rules_(rules) {}

  // Whether the first packet of a connection arrives.
  bool passes(const Packet& packet) const {
    if (packet.from == packet.to) return true;
    return judged(rules_.leaving, packet.from, packet) && judged(rules_.coming, packet.to, packet);
  }

 private:
  bool judged(const std::map<std::uint32_t, std::string>& judges, std::uint32_t pod, const Packet& packet) const {
    const auto found = judges.find(pod);
    return found == judges.end() || accepts(found->second, packet);
  }
  bool accepts(const std::string& chain, const Packet& packet) const {
    for (std::string rule : *rules_.chains.at(chain)) {
      if (rule == std::string("goto ") + kRefuseChain) return false;
      if (rule.starts_with("jump ")) {
        if (accepts(rule.substr(5), packet)) return true;
        continue;
      }
      if (matches(rule, packet)) return true;
    }
    return false;
  }
  static std::string take_word(std::string& rule) {
    const std::size_t blank = rule.find(' ');
    std::string word = rule.substr(0, blank);
    rule = blank == std::string::npos ? "" : rule.substr(blank + 1);
    return word;
  }
  static bool take(std::string& rule, std::string_view begin) {
    if (!rule.starts_with(begin)) return false;
    rule.erase(0, begin.size());
    return true;
  }
  static std::int64_t number_of(const std::string& text) {
    if (const auto address = api::parse_ipv4(text)) return *address;
    return base::parse_number<std::int64_t>(text).value_or(-1);
  }
  // "{ 1, 3-5 } "
  static bool take_ranges(std::string& rule, std::int64_t value) {
    const std::size_t end = rule.find('}');
    std::string list = rule.substr(2, end - 3) + ",";
    rule.erase(0, end + 2);
    bool found = false;
    for (std::size_t comma = 0; (comma = list.find(',')) != std::string::npos;) {
      std::string one = list.substr(0, comma);
      list.erase(0, std::min(comma + 2, list.size()));
      const std::size_t dash = one.find('-');
      const std::int64_t first = number_of(one.substr(0, dash));
      const std::int64_t last = dash == std::string::npos ? first : number_of(one.substr(dash + 1));
      CHECK(first >= 0 && last >= first);
      found = found || (value >= first && value <= last);
    }
    return found;
  }
  bool matches(std::string rule, const Packet& packet) const {
    bool all = true;
    while (!rule.empty()) {
      if (take(rule, "accept")) {
        CHECK(rule.empty());
      } else if (take(rule, "ip daddr . meta l4proto . th dport @")) {
        const auto& set = *rules_.ports.at(take_word(rule));
        all = all && set.contains({packet.to, packet.protocol, static_cast<std::uint16_t>(packet.port)});
      } else if (rule.starts_with("ip saddr ") || rule.starts_with("ip daddr ")) {
        const std::uint32_t address = rule[3] == 's' ? packet.from : packet.to;
        rule.erase(0, 9);
        if (take(rule, "@")) {
          const bool in = rules_.peers.at(take_word(rule))->contains(address);
          all = all && in;
        } else {
          const bool in = take_ranges(rule, address);
          all = all && in;
        }
      } else if (take(rule, "meta l4proto ")) {
        const bool is = take_word(rule) == packet.protocol;
        all = all && is;
      } else {
        const bool is = take_word(rule) == packet.protocol;
        CHECK(take(rule, "dport "));
        const bool in = take_ranges(rule, packet.port);
        all = all && is && in;
      }
    }
    return all;
  }

  const PolicyRules& rules_;
};

}  // namespace node::made_up
