// The tree of queues: depth, and resources of children against their parents.
//
// Amounts are compared in the scheduler's units: cpu in millicores, memory in bytes, pods as they are, everything else
// in thousandths.
#include "admission/rules/queue_tree.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "admission/rules/rules.h"
#include "api/meta/resource.h"
#include "api/schema/quantity.h"
#include "base/format.h"

namespace admission {

namespace {

constexpr double kNegligible = 0.1;

struct Amounts {
  double cpu = 0;
  double memory = 0;
  std::map<std::string, double> scalars;

  double get(const std::string& name) const {
    if (name == "cpu") return cpu;
    if (name == "memory") return memory;
    const auto found = scalars.find(name);
    return found == scalars.end() ? 0 : found->second;
  }
  void add(const Amounts& other) {
    cpu += other.cpu;
    memory += other.memory;
    for (const auto& [name, value] : other.scalars) scalars[name] += value;
  }
  // Every amount of `other` that is there takes the place of ours.
  void prefer(const Amounts& other) {
    if (other.cpu > 0) cpu = other.cpu;
    if (other.memory > 0) memory = other.memory;
    for (const auto& [name, value] : other.scalars)
      if (value > 0) scalars[name] = value;
  }
  void raise_to(const Amounts& other) {
    cpu = std::max(cpu, other.cpu);
    memory = std::max(memory, other.memory);
    for (const auto& [name, value] : other.scalars) scalars[name] = std::max(scalars[name], value);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    if (cpu != 0) all.emplace_back("cpu");
    if (memory != 0) all.emplace_back("memory");
    for (const auto& [name, value] : scalars) all.push_back(name);
    return all;
  }
};

bool is_counted(std::string_view name) {
  if (name.starts_with("count/") || name.starts_with("requests.")) return false;
  return name == "ephemeral-storage" || name.find('/') != std::string_view::npos || name.starts_with("hugepages-") ||
         name.starts_with("attachable-volumes-");
}

Amounts read(const Json& list) {
  Amounts amounts;
  for (const auto& [name, quantity] : api::resource_list_from(list)) {
    if (name == "cpu")
      amounts.cpu = static_cast<double>(quantity.milli_value());
    else if (name == "memory")
      amounts.memory = static_cast<double>(quantity.value());
    else if (name == "pods")
      amounts.scalars[name] = static_cast<double>(quantity.value());
    else if (is_counted(name))
      amounts.scalars[name] = static_cast<double>(quantity.milli_value());
  }
  return amounts;
}

// The largest amount is not a double: it has become 2^63, which no integer of 64 bits is.
std::int64_t whole(double value) { return value < 0x1p63 ? static_cast<std::int64_t>(value) : INT64_MAX; }

std::string shown(const std::string& name, double value) {
  if (name == "cpu") return api::Quantity::from_milli(whole(value)).to_string();
  if (name == "memory") return api::Quantity::from_int(whole(value), api::Quantity::Format::kBinarySi).to_string();
  return base::format("{:.2f}", value);
}

std::string shown(const Amounts& amounts) {
  std::string text = base::format("cpu {:.2f}, memory {:.2f}", amounts.cpu, amounts.memory);
  for (const auto& [name, value] : amounts.scalars) text += base::format(", {} {:.2f}", name, value);
  return text;
}

bool exceeds(const Amounts& sum, const Amounts& limit) {
  if (sum.cpu > limit.cpu || sum.memory > limit.memory) return true;
  for (const auto& [name, value] : sum.scalars) {
    const auto found = limit.scalars.find(name);
    if (found == limit.scalars.end() || value > found->second) return true;
  }
  return false;
}

const Json& capability(const Json& queue) { return queue["spec"]["capability"]; }
const Json& guarantee(const Json& queue) { return queue["spec"]["guarantee"]["resource"]; }
const Json& deserved(const Json& queue) { return queue["spec"]["deserved"]; }

// The queues as they are looked at, with the queue under review in place of its stored form.
class Tree {
 public:
  Tree(const Json& queue, const ObjectReader& objects) : queue_(queue), objects_(objects) {}

  std::optional<Json> find(const std::string& name) const {
    if (name == api::name_of(queue_)) return queue_;
    return objects_.find(api::resources::kQueues, "", name);
  }
  // By name.
  std::vector<Json> children(std::string_view parent) const {
    std::vector<Json> found = objects_.list_by(parent_field(), parent);
    std::erase_if(found, [&](const Json& one) {
      return api::name_of(one) == api::name_of(queue_) || api::name_of(one) == parent;
    });
    if (queue_["spec"]["parent"].as_string() == parent && api::name_of(queue_) != parent) {
      const auto place =
          std::ranges::lower_bound(found, api::name_of(queue_), {}, [](const Json& one) { return api::name_of(one); });
      found.insert(place, queue_);
    }
    return found;
  }
  // The largest capability of each resource that a queue below `name` sets for itself, nearest first on each path.
  Amounts largest_below(std::string_view name) const {
    struct Level {
      std::vector<Json> children;
      std::size_t next = 0;
      Amounts largest;
    };
    std::set<std::string, std::less<>> seen = {std::string(name)};
    std::vector<Level> path = {{children(name), 0, {}}};  // a chain of queues may be longer than the stack is deep
    while (true) {
      if (const Level& at = path.back(); at.next < at.children.size()) {
        const std::string_view child = api::name_of(at.children[at.next]);
        const bool is_cycle = !seen.emplace(child).second;
        path.push_back({is_cycle ? std::vector<Json>() : children(child), 0, {}});
        continue;
      }
      Amounts largest = std::move(path.back().largest);
      path.pop_back();
      if (path.empty()) return largest;
      Level& above = path.back();
      largest.prefer(read(capability(above.children[above.next++])));
      above.largest.raise_to(largest);
    }
  }
  // The queues above, nearest first, up to the top or to one that does not exist.
  std::vector<Json> ancestors(const Json& queue) const;

 private:
  const Json& queue_;
  const ObjectReader& objects_;
};

bool is_top(std::string_view parent) { return parent.empty() || parent == "root"; }

std::vector<Json> Tree::ancestors(const Json& queue) const {
  std::vector<Json> all;
  std::set<std::string> seen;  // against a cycle
  std::string name = queue["spec"]["parent"].str();
  while (!is_top(name) && seen.insert(name).second) {
    auto ancestor = find(name);
    if (!ancestor) break;
    name = (*ancestor)["spec"]["parent"].str();
    all.push_back(*std::move(ancestor));
  }
  return all;
}

// D2: the nearest ancestor that limits a resource.
std::string check_ancestors(const Json& queue, const Tree& tree) {
  const Amounts own = read(capability(queue));
  std::vector<Amounts> limits;
  for (const Json& ancestor : tree.ancestors(queue)) limits.push_back(read(capability(ancestor)));
  for (const std::string& resource : own.names()) {
    const double value = own.get(resource);
    if (value < kNegligible) continue;
    const auto nearest = std::ranges::find_if(limits, [&](const Amounts& limit) { return limit.get(resource) > 0; });
    if (nearest != limits.end() && value > nearest->get(resource))
      return base::format("queue {} capability[{}]={} exceeds its ancestor's capability={}", api::name_of(queue),
                          resource, shown(resource, value), shown(resource, nearest->get(resource)));
  }
  return {};
}

// D3, D4, D6, D7: what the children of `parent` are promised together.
std::string check_sums(const Json& parent, const Tree& tree, std::string_view prefix) {
  Amounts guaranteed;
  Amounts promised;
  const Amounts guarantee_limit = read(guarantee(parent));
  const Amounts deserved_limit = read(deserved(parent));
  for (const Json& child : tree.children(api::name_of(parent))) {
    guaranteed.add(read(guarantee(child)));
    if (exceeds(guaranteed, guarantee_limit))
      return base::format(
          "{} {} validation failed: sum of children's guarantee ({}) exceeds parent's guarantee limit ({})", prefix,
          api::name_of(parent), shown(guaranteed), shown(guarantee_limit));
    promised.add(read(deserved(child)));
    if (exceeds(promised, deserved_limit))
      return base::format(
          "{} {} validation failed: sum of children's deserved ({}) exceeds parent's deserved limit ({})", prefix,
          api::name_of(parent), shown(promised), shown(deserved_limit));
  }
  return {};
}

// D5.
std::string check_descendants(const Json& queue, const Tree& tree) {
  const Amounts own = read(capability(queue));
  if (own.names().empty()) return {};
  const Amounts below = tree.largest_below(api::name_of(queue));
  for (const std::string& resource : own.names()) {
    const double value = own.get(resource);
    if (value < kNegligible) continue;
    const double largest = below.get(resource);
    if (value < largest)
      return base::format("queue {} capability[{}]={} is smaller than its descendants' max capability={}",
                          api::name_of(queue), resource, shown(resource, value), shown(resource, largest));
  }
  return {};
}

}  // namespace

const api::TextField& parent_field() {
  static const api::TextField kField{api::resources::kQueues, {"spec", "parent"}};
  return kField;
}

std::int64_t allocated_pods(const Json& queue) {
  const auto pods = api::Quantity::from_json(queue["status"]["allocated"]["pods"]);
  return pods ? pods->value() : 0;
}

std::string check_parent(const Json& queue, const ObjectReader& objects, int depth_max) {
  const std::string name(api::name_of(queue));
  const std::string parent = queue["spec"]["parent"].str();
  if (is_top(parent)) return {};
  if (parent == name) return base::format("queue {} cannot use itself as parent", name);
  const Tree tree(queue, objects);
  int depth = 1;
  std::int64_t pods = 0;  // of the parent
  std::string at = name;
  for (std::string above = parent; !is_top(above);) {
    const auto ancestor = tree.find(above);
    if (above == parent && ancestor) pods = allocated_pods(*ancestor);
    if (!ancestor)
      return base::format("failed to get parent queue {} of queue {}: {}", above, at, queue_not_found(above));
    if (++depth > depth_max) return base::format("queue {} exceeds the maximum allowed depth of {}", name, depth_max);
    at = above;
    above = (*ancestor)["spec"]["parent"].str();
  }
  const auto is_other = [&](const Json& child) { return api::name_of(child) != name; };
  if (pods != 0 && std::ranges::none_of(tree.children(parent), is_other))
    return base::format("queue {} cannot be the parent queue of queue {} because it has allocated Pods: {}", parent,
                        name, pods);
  return {};
}

std::string check_tree_resources(const Json& queue, const ObjectReader& objects) {
  const Tree tree(queue, objects);
  const std::string parent_name = queue["spec"]["parent"].str();
  if (!is_top(parent_name)) {
    const auto parent = tree.find(parent_name);
    if (!parent) return base::format("parent queue {} not found: {}", parent_name, queue_not_found(parent_name));
    if (std::string text = check_ancestors(queue, tree); !text.empty()) return text;
    if (std::string text = check_sums(*parent, tree, "parent queue"); !text.empty()) return text;
  }
  if (std::string text = check_descendants(queue, tree); !text.empty()) return text;
  return check_sums(queue, tree, "queue");
}

}  // namespace admission
