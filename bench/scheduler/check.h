// Is what was decided allowed? Read from the objects and the answer alone, with none of the scheduler's code.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "api/json/json.h"

namespace bench {

// Knows the forms that the loads use: exact labels, tolerations that exist, terms that match labels, names as members.
class Check {
 public:
  // The objects of a load, one JSON line each.
  void read(const std::string& lines);
  struct Answer {
    struct Eviction {
      std::string pod, node, for_group;
    };
    std::map<std::string, std::string> binds, pipelined;  // "ns/pod" to its node
    std::vector<Eviction> evictions;
  };
  // The faults of an answer, at most a few of each kind; empty: nothing.
  std::vector<std::string> problems(const Answer& answer);

 private:
  using Amounts = std::map<std::string, double>;  // by resource, in units
  using Labels = std::map<std::string, std::string>;
  struct Node {
    Amounts allocatable;
    Labels labels;
    std::vector<api::Json> taints;
    Amounts used;
  };
  struct Term {  // apart from, or evenly with, pods of these labels in the domains of this key
    Labels selects;
    std::string key;
    std::int64_t max_skew = 0;
    bool operator<(const Term& other) const {
      return std::tie(selects, key, max_skew) < std::tie(other.selects, other.key, other.max_skew);
    }
  };
  struct Pod {
    std::string name, group, node;
    Amounts requests;
    Labels labels, selector;
    std::vector<std::string> tolerated;  // keys of taints
    std::vector<Term> apart, even;
    bool placed_now = false;
  };
  struct Group {
    std::int64_t min = 0;
    std::string queue;
    std::int64_t hard_tier = -1;
    std::int64_t placed = 0;
    bool changed = false;  // some pod came or went
    std::set<std::string> nodes;
  };
  struct Queue {
    std::string parent;
    Amounts capability, used;
  };
  struct Domain {
    std::int64_t tier = 0;
    std::vector<std::string> members;
  };

  void read_pod(const api::Json& object);
  void complain(const std::string& kind, const std::string& what);
  void apply(const Answer& answer);
  void count();
  void check_nodes();
  void check_pods();
  void check_apart_and_even();
  void check_groups();
  void check_queues();
  std::set<std::string> nodes_of(const std::string& domain) const;

  std::map<std::string, Node> nodes_;
  std::map<std::string, Pod> pods_;  // by name; all are of one namespace
  std::map<std::string, Group> groups_;
  std::map<std::string, Queue> queues_;
  std::map<std::string, Domain> domains_;
  std::map<std::string, int> complaints_;
  std::vector<std::string> problems_;
};

}  // namespace bench
