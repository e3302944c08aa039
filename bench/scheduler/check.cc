// Is what was decided allowed? Read from the objects and the answer alone, with none of the scheduler's code.
#include "check.h"

#include <algorithm>
#include <tuple>

#include "api/schema/quantity.h"
#include "base/format.h"

namespace bench {
namespace {

constexpr int kComplaintsMax = 3;  // of each kind
constexpr double kSlack = 1e-6;

std::map<std::string, double> amounts_of(const api::Json& list) {
  std::map<std::string, double> out;
  for (const auto& [name, quantity] : api::resource_list_from(list)) out[name] = quantity.as_double();
  return out;
}

std::map<std::string, std::string> labels_of(const api::Json& object) {
  std::map<std::string, std::string> out;
  for (const auto& member : object.members()) out[std::string(member.name())] = member.value.str();
  return out;
}

bool selects(const std::map<std::string, std::string>& selector, const std::map<std::string, std::string>& labels) {
  return std::all_of(selector.begin(), selector.end(), [&](const auto& wanted) {
    auto found = labels.find(wanted.first);
    return found != labels.end() && found->second == wanted.second;
  });
}

// "ns/name" without the namespace.
std::string bare(std::string_view key) { return std::string(key.substr(key.find('/') + 1)); }

}  // namespace

void Check::complain(const std::string& kind, const std::string& what) {
  if (++complaints_[kind] <= kComplaintsMax) problems_.push_back(kind + ": " + what);
}

void Check::read_pod(const api::Json& object) {
  const api::Json& spec = object["spec"];
  Pod pod;
  pod.name = object["metadata"]["name"].str();
  pod.group = object["metadata"]["annotations"]["scheduling.k8s.io/group-name"].str();
  pod.node = spec["nodeName"].str();
  for (const api::Json& container : spec["containers"].items()) {
    for (const auto& [name, amount] : amounts_of(container["resources"]["requests"])) pod.requests[name] += amount;
  }
  pod.requests["pods"] = 1;
  pod.labels = labels_of(object["metadata"]["labels"]);
  pod.selector = labels_of(spec["nodeSelector"]);
  for (const api::Json& one : spec["tolerations"].items()) pod.tolerated.push_back(one["key"].str());
  for (const api::Json& term :
       spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"].items())
    pod.apart.push_back({labels_of(term["labelSelector"]["matchLabels"]), term["topologyKey"].str(), 0});
  for (const api::Json& one : spec["topologySpreadConstraints"].items()) {
    if (one["whenUnsatisfiable"].as_string() != "DoNotSchedule") continue;
    pod.even.push_back(
        {labels_of(one["labelSelector"]["matchLabels"]), one["topologyKey"].str(), one["maxSkew"].as_int()});
  }
  pods_[pod.name] = std::move(pod);
}

void Check::read(const std::string& lines) {
  for (std::size_t start = 0; start < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', start), lines.size());
    const auto parsed = api::parse_json(std::string_view(lines).substr(start, end - start));
    start = end + 1;
    if (!parsed.ok()) {
      complain("load", parsed.error().message);
      continue;
    }
    const api::Json& object = *parsed;
    const std::string_view kind = object["kind"].as_string();
    const std::string name = object["metadata"]["name"].str();
    const api::Json& spec = object["spec"];
    if (kind == "Pod") read_pod(object);
    if (kind == "Node") {
      const auto taints = spec["taints"].items();
      nodes_[name] = {amounts_of(object["status"]["allocatable"]),
                      labels_of(object["metadata"]["labels"]),
                      {taints.begin(), taints.end()},
                      {}};
    }
    if (kind == "PodGroup") {
      const api::Json& topology = spec["networkTopology"];
      groups_[name] = {
          .min = spec["minMember"].as_int(),
          .queue = spec["queue"].str(),
          .hard_tier = topology["mode"].as_string() == "hard" ? topology["highestTierAllowed"].as_int() : -1,
          .nodes = {}};
    }
    if (kind == "Queue") queues_[name] = {spec["parent"].str(), amounts_of(spec["capability"]), {}};
    if (kind == "HyperNode") {
      Domain& domain = domains_[name];
      domain.tier = spec["tier"].as_int();
      for (const api::Json& member : spec["members"].items())
        domain.members.push_back(member["selector"]["exactMatch"]["name"].str());
    }
  }
}

void Check::apply(const Answer& answer) {
  std::set<std::string> helped;
  for (const Answer::Eviction& one : answer.evictions) {
    Pod& pod = pods_[bare(one.pod)];
    if (pod.node != one.node) complain("eviction", pod.name + " was not on " + one.node);
    pod.node.clear();
    groups_[pod.group].changed = true;
    helped.insert(bare(one.for_group));
  }
  for (const auto& [name, node] : answer.binds) {
    auto found = pods_.find(bare(name));
    if (found == pods_.end() || !found->second.node.empty()) {
      complain("bind", name + " is unknown or was placed before");
      continue;
    }
    found->second.node = node;
    found->second.placed_now = true;
    groups_[found->second.group].changed = true;
    helped.erase(found->second.group);
  }
  for (const auto& [name, node] : answer.pipelined) helped.erase(pods_[bare(name)].group);
  for (const std::string& group : helped) complain("eviction", "for " + group + ", which got nothing");
}

void Check::count() {
  for (const auto& [name, pod] : pods_) {
    if (pod.node.empty()) continue;
    Group& group = groups_[pod.group];
    ++group.placed;
    group.nodes.insert(pod.node);
    for (const auto& [resource, amount] : pod.requests) nodes_[pod.node].used[resource] += amount;
    std::set<std::string> seen;
    for (std::string queue = group.queue; !queue.empty() && seen.insert(queue).second;) {
      for (const auto& [resource, amount] : pod.requests) queues_[queue].used[resource] += amount;
      queue = queues_[queue].parent;
    }
  }
}

void Check::check_nodes() {
  for (const auto& [name, node] : nodes_) {
    for (const auto& [resource, used] : node.used) {
      auto offered = node.allocatable.find(resource);
      if (used > (offered == node.allocatable.end() ? 0 : offered->second) * (1 + kSlack))
        complain("capacity", base::format("{} uses {} of {}", name, used, resource));
    }
  }
}

void Check::check_pods() {
  for (const auto& [name, pod] : pods_) {
    if (!pod.placed_now) continue;
    const Node& node = nodes_[pod.node];
    if (!selects(pod.selector, node.labels)) complain("selector", name + " on " + pod.node);
    for (const api::Json& taint : node.taints) {
      if (std::find(pod.tolerated.begin(), pod.tolerated.end(), taint["key"].str()) == pod.tolerated.end())
        complain("taint", name + " on " + pod.node);
    }
  }
}

void Check::check_apart_and_even() {
  std::map<Term, std::vector<const Pod*>> apart, even;  // who carries the term
  for (const auto& [name, pod] : pods_) {
    if (pod.node.empty()) continue;
    for (const Term& term : pod.apart) apart[term].push_back(&pod);
    for (const Term& term : pod.even) even[term].push_back(&pod);
  }
  std::map<std::pair<std::string, std::string>, std::vector<const Pod*>> by_label;
  for (const auto& [name, pod] : pods_) {
    if (pod.node.empty()) continue;
    for (const auto& label : pod.labels) by_label[label].push_back(&pod);
  }
  // By domain, the pods that the term selects.
  const auto domains_of = [&](const Term& term) {
    std::map<std::string, std::vector<const Pod*>> out;
    for (const Pod* pod : by_label[*term.selects.begin()]) {
      if (selects(term.selects, pod->labels)) out[nodes_[pod->node].labels[term.key]].push_back(pod);
    }
    return out;
  };
  for (const auto& [term, carriers] : apart) {
    auto domains = domains_of(term);
    for (const Pod* carrier : carriers) {  // whoever came first: both ways
      const auto& there = domains[nodes_[carrier->node].labels[term.key]];
      if (std::any_of(there.begin(), there.end(), [&](const Pod* other) { return other != carrier; }))
        complain("anti-affinity", carrier->name + " has company in " + nodes_[carrier->node].labels[term.key]);
    }
  }
  // Pods that are spread never leave in these loads, so what held when each pod came holds at the end.
  for (const auto& [term, carriers] : even) {
    auto domains = domains_of(term);
    for (const auto& [name, node] : nodes_) {
      if (auto key = node.labels.find(term.key); key != node.labels.end()) domains[key->second];
    }
    std::size_t least = SIZE_MAX, most = 0;
    for (const auto& [name, there] : domains)
      least = std::min(least, there.size()), most = std::max(most, there.size());
    if (most > least + static_cast<std::size_t>(term.max_skew))
      complain("spread", base::format("{}: {} in one domain, {} in another", term.key, most, least));
  }
}

std::set<std::string> Check::nodes_of(const std::string& domain) const {
  std::set<std::string> out;
  for (const std::string& member : domains_.at(domain).members) {
    if (domains_.contains(member))
      out.merge(nodes_of(member));
    else
      out.insert(member);
  }
  return out;
}

void Check::check_groups() {
  std::map<std::string, std::set<std::string>> members;
  for (const auto& [name, domain] : domains_) members[name] = nodes_of(name);
  for (const auto& named : groups_) {  // a lambda cannot capture a structured binding
    const std::string& name = named.first;
    const Group& group = named.second;
    if (group.changed && group.placed > 0 && group.placed < group.min)
      complain("gang", base::format("{} has {} of {}", name, group.placed, group.min));
    if (group.hard_tier < 0 || group.placed == 0) continue;
    const bool held = std::any_of(domains_.begin(), domains_.end(), [&](const auto& one) {
      const auto& nodes = group.nodes;
      const auto& all = members[one.first];
      return one.second.tier <= group.hard_tier && std::includes(all.begin(), all.end(), nodes.begin(), nodes.end());
    });
    if (!held) complain("topology", base::format("{} lies in no domain of tier {}", name, group.hard_tier));
  }
}

void Check::check_queues() {
  for (const auto& [name, queue] : queues_) {
    for (const auto& [resource, most] : queue.capability) {
      auto used = queue.used.find(resource);
      if (used != queue.used.end() && used->second > most * (1 + kSlack))
        complain("queue", base::format("{} uses {} of {} {}", name, used->second, most, resource));
    }
  }
}

std::vector<std::string> Check::problems(const Answer& answer) {
  apply(answer);
  count();
  check_nodes();
  check_pods();
  check_apart_and_even();
  check_groups();
  check_queues();
  return std::move(problems_);
}

}  // namespace bench
