// The memory of a book: each selector with the pods that it selects, each policy with its rules, each pod with its
// judges.
#include "node/policies/policy_book.h"

#include <algorithm>
#include <optional>

#include "api/meta/resource.h"
#include "base/format.h"
#include "node/policies/policy_chains.h"

namespace node {

using api::Json;

namespace {

constexpr std::size_t kNamesOfAPod = 1024;

// A selector, whoever uses it.
struct Selection {
  PodSelection what;
  std::set<std::uint32_t> members;
  int users = 0;       // policies that speak of it
  int peer_users = 0;  // those that speak of it as a peer: its set is in the kernel
};

struct Policy {
  Json object;
  PolicyFacts facts;
  std::string coming_name, leaving_name;  // of its chains
  bool fits = true;                       // within the rules of its namespace
};

std::size_t cost_of(const PolicyFacts& facts) {
  return (facts.coming ? facts.coming->cost : 0) + (facts.leaving ? facts.leaving->cost : 0);
}

template <class T>
std::shared_ptr<const T> share(T value) {
  return std::make_shared<const T>(std::move(value));
}

}  // namespace

struct PolicyBook::State {
  PolicyRules rules;
  std::map<std::string, Json> namespaces;                            // labels, by name
  std::map<std::uint32_t, PolicyPod> pods;                           // by address
  std::map<std::string, Selection> selections;                       // by the name of the set
  std::map<std::string, std::map<std::string, Policy>> policies;     // by namespace and name
  std::map<std::string, std::pair<std::string, std::string>> named;  // ports in the kernel, by the set's name
  std::map<std::string, int> named_users;
  std::map<std::string, int> judge_users;  // of chains that judge pods
  std::map<std::string, std::size_t> left_out;
  // The changes of the update that is under way.
  std::set<std::string> changed_sets, changed_ports;
  std::set<std::uint32_t> touched;  // pods whose judges are to be found anew

  // True if the pod is one of them.
  bool selects(const PodSelection& what, const PolicyPod& pod) const {
    if (what.none) return false;
    if (!what.ns.empty()) return what.ns == pod.ns && what.of_pods.matches(pod.labels);
    const auto found = namespaces.find(pod.ns);
    return found != namespaces.end() && what.of_namespaces.matches(found->second) && what.of_pods.matches(pod.labels);
  }

  void place_pod(std::uint32_t address, const PolicyPod* pod) {
    touched.insert(address);
    for (auto& [name, selection] : selections) {
      const bool is_member = pod != nullptr && selects(selection.what, *pod);
      const bool changed = is_member ? selection.members.insert(address).second : selection.members.erase(address) != 0;
      if (changed) changed_sets.insert(name);
    }
  }

  void take_namespaces(const std::vector<const Json*>& now) {
    std::map<std::string, Json> labels;
    for (const Json* one : now) labels[std::string(api::name_of(*one))] = (*one)["metadata"]["labels"];
    std::set<std::string> changed;
    for (const auto& [name, was] : namespaces)
      if (!labels.contains(name)) changed.insert(name);
    for (const auto& [name, is] : labels)
      if (const auto was = namespaces.find(name);
          was == namespaces.end() || !(was->second.same_as(is) || was->second == is))
        changed.insert(name);
    namespaces = std::move(labels);
    if (changed.empty()) return;
    for (const auto& [address, pod] : pods)
      if (changed.contains(pod.ns)) place_pod(address, &pod);
  }

  void take_pods(const std::vector<PolicyPod>& now) {
    std::map<std::uint32_t, const PolicyPod*> wanted;
    for (const PolicyPod& pod : now) wanted[pod.address] = &pod;
    for (auto it = pods.begin(); it != pods.end();) {
      if (wanted.contains(it->first)) {
        ++it;
        continue;
      }
      record_ports(it->second.ports);
      place_pod(it->first, nullptr);
      it = pods.erase(it);
    }
    for (const auto& [address, pod] : wanted) {
      PolicyPod& kept = pods[address];
      if (kept == *pod) continue;
      record_ports(kept.ports);
      record_ports(pod->ports);
      kept = *pod;
      place_pod(address, &kept);
    }
  }
  void record_ports(const std::vector<NamedPort>& ports) {
    if (named.empty()) return;
    for (const NamedPort& port : ports)
      changed_ports.insert(policy_name("ports", base::format("{} {}", port.protocol, port.name)));
  }

  void use(const std::string& name, const PodSelection& what, bool as_peer) {
    Selection& selection = selections[name];
    if (selection.users++ == 0) {
      selection.what = what;
      for (const auto& [address, pod] : pods)
        if (selects(what, pod)) selection.members.insert(address);
    }
    if (as_peer && selection.peer_users++ == 0) changed_sets.insert(name);
  }
  void drop(const std::string& name, bool as_peer) {
    const auto found = selections.find(name);
    if (found == selections.end()) return;
    if (as_peer && --found->second.peer_users == 0) changed_sets.insert(name);
    if (--found->second.users == 0) selections.erase(found);
  }

  // The chain's part in what the kernel has.
  void add_chain(const std::string& name, const std::optional<PolicyChain>& chain, bool fits) {
    if (!chain) return;
    rules.chains[name] = share(fits ? chain->rules : std::vector<std::string>{});
    if (!fits) return;
    for (const auto& [set, what] : chain->peers) use(set, what, true);
    for (const auto& [set, port] : chain->named_ports)
      if (named_users[set]++ == 0) named[set] = port, changed_ports.insert(set);
  }
  void remove_chain(const std::string& name, const std::optional<PolicyChain>& chain, bool fits) {
    if (!chain) return;
    rules.chains.erase(name);
    if (!fits) return;
    for (const auto& [set, what] : chain->peers) drop(set, true);
    for (const auto& [set, port] : chain->named_ports)
      if (--named_users[set] == 0) named_users.erase(set), named.erase(set), changed_ports.insert(set);
  }
  void add_chains(const Policy& policy) {
    add_chain(policy.coming_name, policy.facts.coming, policy.fits);
    add_chain(policy.leaving_name, policy.facts.leaving, policy.fits);
  }
  void remove_chains(const Policy& policy) {
    remove_chain(policy.coming_name, policy.facts.coming, policy.fits);
    remove_chain(policy.leaving_name, policy.facts.leaving, policy.fits);
  }

  void touch_subjects(const Policy& policy) {
    if (const auto found = selections.find(policy.facts.subject.name); found != selections.end())
      touched.insert(found->second.members.begin(), found->second.members.end());
  }
  void remove_policy(const Policy& policy) {
    touch_subjects(policy);
    remove_chains(policy);
    drop(policy.facts.subject.name, false);
  }
  void add_policy(const std::string& key, const Json& object, Policy& policy) {
    policy.object = object;
    policy.facts = policy_facts(object, kRulesOfANamespace);
    policy.coming_name = policy_name("in", key);
    policy.leaving_name = policy_name("out", key);
    policy.fits = cost_of(policy.facts) <= kRulesOfANamespace;
    use(policy.facts.subject.name, policy.facts.subject.selection, false);
    add_chains(policy);
    touch_subjects(policy);
  }

  void take_policies(const std::vector<const Json*>& now) {
    std::map<std::string, std::map<std::string, const Json*>> wanted;
    for (const Json* one : now) wanted[std::string(api::namespace_of(*one))][std::string(api::name_of(*one))] = one;
    std::set<std::string> changed;
    for (auto& [ns, all] : policies)
      for (auto it = all.begin(); it != all.end();) {
        const auto space = wanted.find(ns);
        const auto found = space == wanted.end()               ? nullptr
                           : space->second.contains(it->first) ? space->second.at(it->first)
                                                               : nullptr;
        if (found != nullptr && is_same(*found, it->second.object)) {
          space->second.erase(it->first);
          ++it;
          continue;
        }
        changed.insert(ns);
        remove_policy(it->second);
        it = all.erase(it);
      }
    for (const auto& [ns, all] : wanted)
      for (const auto& [name, object] : all) {
        changed.insert(ns);
        add_policy(ns + "/" + name, *object, policies[ns][name]);
      }
    for (const std::string& ns : changed) fit(ns);
  }
  static bool is_same(const Json& one, const Json& other) {
    return one.same_as(other) || one["spec"].same_as(other["spec"]) || one["spec"] == other["spec"];
  }

  // Which policies of a namespace are within its number of rules.
  void fit(const std::string& ns) {
    std::size_t total = 0;
    for (auto& [name, policy] : policies[ns]) {
      const std::size_t cost = cost_of(policy.facts);
      const bool fits = total + cost <= kRulesOfANamespace;
      if (fits) total += cost;
      const std::string key = ns + "/" + name;
      if (fits)
        left_out.erase(key);
      else
        left_out[key] = cost;
      if (fits == policy.fits) continue;
      remove_chains(policy);
      policy.fits = fits;
      add_chains(policy);
    }
    std::erase_if(left_out, [&](const auto& one) {
      const std::size_t slash = one.first.find('/');
      return one.first.substr(0, slash) == ns && !policies[ns].contains(one.first.substr(slash + 1));
    });
    if (policies[ns].empty()) policies.erase(ns);
  }

  // The chain that asks all policies of a pod in one direction; pods with the same policies share it.
  void judge(std::uint32_t address, const PolicyPod* pod, std::map<std::uint32_t, std::string>& judges, bool coming) {
    std::vector<std::string> lines;
    const auto space = pod == nullptr ? policies.end() : policies.find(pod->ns);
    if (space != policies.end())
      for (const auto& [name, policy] : space->second) {
        if (!(coming ? policy.facts.coming : policy.facts.leaving)) continue;
        if (const auto of = selections.find(policy.facts.subject.name);
            of != selections.end() && of->second.members.contains(address))
          lines.push_back("jump " + (coming ? policy.coming_name : policy.leaving_name));
      }
    std::string name;
    if (!lines.empty()) {
      lines.push_back(base::format("goto {}", kRefuseChain));
      std::string all;
      for (const std::string& line : lines) all += line + "\n";
      name = policy_name("pods", all);
      if (judge_users[name]++ == 0) rules.chains[name] = share(std::move(lines));
    }
    const auto old = judges.find(address);
    if (old != judges.end() && --judge_users[old->second] == 0) {
      judge_users.erase(old->second);
      rules.chains.erase(old->second);
    }
    if (!name.empty())
      judges[address] = name;
    else if (old != judges.end())
      judges.erase(old);
  }

  void finish() {
    for (const std::uint32_t address : touched) {
      const auto found = pods.find(address);
      const PolicyPod* pod = found == pods.end() ? nullptr : &found->second;
      judge(address, pod, rules.coming, true);
      judge(address, pod, rules.leaving, false);
    }
    for (const std::string& name : changed_sets) {
      const auto found = selections.find(name);
      if (found == selections.end() || found->second.peer_users == 0)
        rules.peers.erase(name);
      else
        rules.peers[name] = share(found->second.members);
    }
    for (const std::string& name : changed_ports) find_ports(name);
    touched.clear();
    changed_sets.clear();
    changed_ports.clear();
  }
  void find_ports(const std::string& name) {
    const auto found = named.find(name);
    if (found == named.end()) {
      rules.ports.erase(name);
      return;
    }
    std::set<PodPort> all;
    for (const auto& [address, pod] : pods)
      for (const NamedPort& port : pod.ports)
        if (port.protocol == found->second.first && port.name == found->second.second)
          all.insert({address, port.protocol, port.port});
    rules.ports[name] = share(std::move(all));
  }
};

PolicyBook::PolicyBook() : state_(std::make_unique<State>()) {}
PolicyBook::~PolicyBook() = default;

const PolicyRules& PolicyBook::update(const PolicyObjects& objects) {
  state_->take_namespaces(objects.namespaces);
  state_->take_pods(objects.pods);
  state_->take_policies(objects.policies);
  state_->finish();
  return state_->rules;
}
const PolicyRules& PolicyBook::rules() const { return state_->rules; }
const std::map<std::string, std::size_t>& PolicyBook::left_out() const { return state_->left_out; }

PolicyPod policy_pod(const Json& pod, std::uint32_t address) {
  PolicyPod out{std::string(api::namespace_of(pod)), pod["metadata"]["labels"], address, {}};
  for (const char* list : {"initContainers", "containers"})
    for (const Json& container : pod["spec"][list].items())
      for (const Json& port : container["ports"].items()) {
        const std::string_view protocol = policy_protocol(port["protocol"].as_string());
        const std::int64_t number = port["containerPort"].as_int();
        if (port["name"].as_string().empty() || protocol.empty() || number < 1 || number > 65535) continue;
        if (out.ports.size() < kNamesOfAPod)
          out.ports.push_back({port["name"].str(), std::string(protocol), static_cast<std::uint16_t>(number)});
      }
  return out;
}

std::vector<std::string> policy_warnings(const Json& policy) {
  std::vector<std::string> warnings;
  for (const auto& [way, side] : {std::pair("ingress", "from"), std::pair("egress", "to")})
    for (std::size_t i = 0; i < policy["spec"][way].size(); ++i)
      for (std::size_t k = 0; k < policy["spec"][way][i][side].size(); ++k)
        if (const Json& cidr = policy["spec"][way][i][side][k]["ipBlock"]["cidr"];
            cidr.as_string().find(':') != std::string_view::npos)
          warnings.push_back(
              base::format("spec.{}[{}].{}[{}].ipBlock.cidr: no pod of this machine has an address of "
                           "IPv6, and {:?} matches nothing",
                           way, i, side, k, cidr.as_string()));
  return warnings;
}

}  // namespace node
