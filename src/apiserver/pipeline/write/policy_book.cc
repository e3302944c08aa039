// Policies and bindings by their names; what is in force follows from both.
#include "apiserver/pipeline/write/policy_book.h"

#include <map>
#include <string>
#include <utility>

#include "api/kinds.h"

namespace apiserver {

namespace {

std::uint32_t index_of(const api::ResourceId& resource) {
  return static_cast<std::uint32_t>(api::find_kind(resource) - api::all_kinds().data());
}

}  // namespace

struct PolicyBook::State {
  using Key = std::pair<std::uint32_t, std::string>;

  std::map<Key, std::shared_ptr<const api::policies::Policy>> policies;
  std::map<Key, std::shared_ptr<const api::policies::Binding>> bindings;
  std::shared_ptr<const api::policies::Set> set;
  bool stale = true;

  void put(std::uint32_t resource, bool binds, const std::string& name, const api::Json& object) {
    stale = true;
    if (object.is_null()) {
      policies.erase({resource, name});
      bindings.erase({resource, name});
      return;
    }
    // A policy that was stored before a rule was made stays in use as far as it can be read; it says itself when it
    // cannot.
    std::vector<base::Cause> causes;
    if (binds)
      bindings[{resource, name}] = api::policies::read_binding(object, causes);
    else
      policies[{resource, name}] = api::policies::read_policy(object, causes);
  }

  void rebuild() {
    std::vector<std::shared_ptr<const api::policies::Policy>> all;
    std::vector<std::shared_ptr<const api::policies::Binding>> links;
    for (const auto& [key, policy] : policies) all.push_back(policy);
    for (const auto& [key, binding] : bindings) links.push_back(binding);
    auto fresh = std::make_shared<const api::policies::Set>(api::policies::bind(all, links));
    set = fresh->empty() ? nullptr : std::move(fresh);
    stale = false;
  }
};

PolicyBook::PolicyBook(store::Store& store) : store_(store) {}
PolicyBook::~PolicyBook() = default;

std::shared_ptr<const api::policies::Set> PolicyBook::current() {
  if (!state_) {
    state_ = std::make_shared<State>();
    for (const auto& row : {std::pair{api::policies::kValidatingPolicies, false},
                            {api::policies::kMutatingPolicies, false},
                            {api::policies::kValidatingBindings, true},
                            {api::policies::kMutatingBindings, true}}) {
      const std::uint32_t index = index_of(row.first);
      const bool binds = row.second;
      store_.for_each(index, "", "", store::View::kLatest, [&](const store::ObjectPtr& object) {
        state_->put(index, binds, object->name, object->json());
        return true;
      });
      store_.on_latest(
          index, [state = state_, index, binds](const store::ObjectPtr& before, const store::ObjectPtr& after) {
            if (before || after)
              state->put(index, binds, (after ? after : before)->name, after ? after->json() : api::Json());
          });
    }
  }
  if (state_->stale) state_->rebuild();
  return state_->set;
}

}  // namespace apiserver
