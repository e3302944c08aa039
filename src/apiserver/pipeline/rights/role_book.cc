// Roles and bindings by their names; grants follow from both.
#include "apiserver/pipeline/rights/role_book.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "api/kinds.h"

namespace apiserver {

using api::Json;

namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

std::uint32_t index_of(std::string_view plural) {
  return static_cast<std::uint32_t>(api::find_kind(kGroup, "v1", plural) - api::all_kinds().data());
}

using Key = std::pair<std::string, std::string>;  // namespace (empty: of the cluster), name

struct Binding {
  Key role;
  std::shared_ptr<const RoleSubjects> subjects;
};

Key role_of(const Json& binding) {
  const Json& role = binding["roleRef"];
  const bool of_cluster = role["kind"].as_string() == "ClusterRole";
  return {of_cluster ? std::string() : std::string(api::namespace_of(binding)), role["name"].str()};
}

}  // namespace

struct RoleBook::State {
  std::map<Key, RoleRules> roles;
  std::map<Key, Binding> bindings;
  std::atomic<std::shared_ptr<const RoleSet>> current{std::make_shared<const RoleSet>()};

  void put(bool binds, const Key& key, const Json& object) {
    if (object.is_null()) {
      binds ? void(bindings.erase(key)) : void(roles.erase(key));
    } else if (binds) {
      bindings[key] = {role_of(object), role_subjects(object)};
    } else {
      roles[key] = role_rules(object);
    }
  }

  // A role that is not there gives nothing.
  void rebuild() {
    std::vector<const std::pair<const Key, Binding>*> order;
    for (const auto& one : bindings) order.push_back(&one);
    std::ranges::stable_sort(order, {}, [](const auto* one) { return std::tie(one->first.first, one->second.role); });
    auto fresh = std::make_shared<RoleSet>();
    for (const auto* one : order)
      if (const auto role = roles.find(one->second.role); role != roles.end())
        fresh->grants.push_back({one->first.first, one->second.subjects, role->second});
    current = std::move(fresh);
  }
};

RoleBook::RoleBook(store::Store& store) : store_(store), state_(std::make_shared<State>()) {}
RoleBook::~RoleBook() = default;

std::shared_ptr<const RoleSet> RoleBook::current() const { return state_->current; }

RoleRules RoleBook::rules_of(const Json& binding) const {
  const auto role = state_->roles.find(role_of(binding));
  return role == state_->roles.end() ? nullptr : role->second;
}

void RoleBook::begin() {
  for (const auto& [plural, binds] :
       {std::pair{"roles", false}, {"clusterroles", false}, {"rolebindings", true}, {"clusterrolebindings", true}}) {
    const std::uint32_t index = index_of(plural);
    store_.for_each(index, "", "", store::View::kLatest, [&, binds = binds](const store::ObjectPtr& object) {
      state_->put(binds, {object->ns, object->name}, object->json());
      return true;
    });
    store_.on_latest(index,
                     [state = state_, binds = binds](const store::ObjectPtr& before, const store::ObjectPtr& after) {
                       if (!before && !after) return;
                       const store::ObjectPtr& known = after ? after : before;
                       state->put(binds, {known->ns, known->name}, after ? after->json() : Json());
                       state->rebuild();
                     });
  }
  state_->rebuild();
}

}  // namespace apiserver
