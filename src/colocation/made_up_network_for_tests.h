// The network of a machine that is made up.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "colocation/machine/pod_network.h"

namespace colocation::made_up {

class Network : public PodNetwork {
 public:
  base::Result<std::vector<PodInterface>> interfaces() override {
    if (trouble) return *trouble;
    return present;
  }
  std::optional<std::uint32_t> namespace_of(int pid) override {
    const auto found = namespaces.find(pid);
    return found == namespaces.end() ? std::nullopt : std::optional(found->second);
  }
  base::Status set(const std::string& table, const PacketRules& rules) override {
    ++attempts;
    if (only_looks) return base::make_error(base::Code::kForbidden, "no rights");
    if (trouble) return *trouble;
    for (const std::string& name : rules.interfaces)
      if (vanished == name) {
        std::erase_if(present, [&name](const PodInterface& one) { return one.name == name; });
        return base::make_error(base::Code::kNotFound, "no such device");
      }
    ++writes;
    tables.erase(table);
    if (!rules.interfaces.empty()) tables[table] = rules;
    counted = {};
    return {};
  }
  base::Result<PacketCounts> counts(const std::string& table) override {
    if (!tables.contains(table)) return base::make_error(base::Code::kNotFound, "no such table");
    return counted;
  }

  // The rules of our table; empty: there is no table.
  std::string rules() const {
    const auto found = tables.find("volcano_colocation");
    return found == tables.end() ? std::string() : packet_rules_text(found->second);
  }

  std::vector<PodInterface> present;
  std::map<int, std::uint32_t> namespaces;  // by process
  std::string vanished;                     // an interface that goes as soon as it is written about
  std::optional<base::Error> trouble;
  std::map<std::string, PacketRules> tables;
  PacketCounts counted;
  int writes = 0, attempts = 0;
  bool only_looks = false;  // rules are refused, as without rights
};

}  // namespace colocation::made_up
