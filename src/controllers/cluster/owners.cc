// Owner references: who goes when an owner goes.
//
// An absence in the view proves nothing: the watches of owners and dependents run apart. So before anything is deleted,
// the server is asked for the owner.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "api/kinds.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/cluster/cluster.h"

namespace controllers::cluster {

using api::Json;

namespace {

constexpr std::string_view kForeground = "foregroundDeletion";
constexpr std::string_view kOrphan = "orphan";

// Kinds that own or are owned; events and leases are many and are neither.
bool takes_part(const api::KindInfo& kind) {
  return kind.kind != "Event" && kind.kind != "Lease" && kind.kind != "Node";
}

std::string key_for(const api::KindInfo& kind, const Json& object) {
  return base::format("{}|{}", api::qualified_plural(kind), api::key_of(object));
}

bool has_finalizer(const Json& object, std::string_view finalizer) {
  for (const Json& one : object["metadata"]["finalizers"].items())
    if (one.as_string() == finalizer) return true;
  return false;
}

Keys owner_uids(const Json& object) {
  Keys uids;
  for (const Json& reference : object["metadata"]["ownerReferences"].items()) uids.push_back(reference["uid"].str());
  return uids;
}

struct Dependent {
  const api::KindInfo* kind;
  const Json* object;
};

// The program's own kinds, and those of strangers, whose rows live as long as the kinds do.
class Kinds {
 public:
  std::vector<const api::KindInfo*> all() const {
    std::vector<const api::KindInfo*> list;
    for (const api::KindInfo& kind : api::all_kinds())
      if (takes_part(kind)) list.push_back(&kind);
    for (const auto& [resource, kind] : strangers_) list.push_back(&kind);
    return list;
  }
  void add(const api::KindInfo& kind) { strangers_[kind.resource] = kind; }
  void remove(const api::ResourceId& resource) { strangers_.erase(resource); }
  const api::KindInfo* stranger(const api::ResourceId& resource) const {
    const auto found = strangers_.find(resource);
    return found == strangers_.end() ? nullptr : &found->second;
  }

  const api::KindInfo* qualified(std::string_view plural) const {
    for (const api::KindInfo* one : all())
      if (api::qualified_plural(*one) == plural) return one;
    return nullptr;
  }
  // As a reference names it. A stranger's kind is one, whatever version of it is named.
  const api::KindInfo* referred(const Json& reference) const {
    const std::string_view version = reference["apiVersion"].as_string(), kind = reference["kind"].as_string();
    if (const api::KindInfo* own = api::find_kind_named(version, kind)) return own;
    const std::string_view group = version.substr(0, version.find('/'));
    for (const auto& [resource, one] : strangers_)
      if (one.kind == kind && resource.group == group) return &one;
    return nullptr;
  }

 private:
  std::map<api::ResourceId, api::KindInfo> strangers_;
};

// An object with a namespace owns nothing outside of it: a reference from elsewhere is a mistake, or meant to hold it
// up.
std::vector<Dependent> dependents_of(const Kinds& kinds, const View& view, const Json& owner) {
  std::vector<Dependent> found;
  const std::string_view ns = api::namespace_of(owner);
  for (const api::KindInfo* kind : kinds.all())
    for (const Json* object : view.by_index(kind->resource, "owner", api::uid_of(owner)))
      if (ns.empty() || api::namespace_of(*object) == ns) found.push_back({kind, object});
  return found;
}

bool blocks(const Json& dependent, std::string_view uid) {
  for (const Json& reference : dependent["metadata"]["ownerReferences"].items())
    if (reference["uid"].as_string() == uid && reference["blockOwnerDeletion"].as_bool()) return true;
  return false;
}

bool holds_up_somebody(const Json& object) {
  return std::ranges::any_of(object["metadata"]["ownerReferences"].items(),
                             [](const Json& reference) { return reference["blockOwnerDeletion"].as_bool(); });
}

// A patch that only takes effect on the version we saw.
Json metadata_patch(const Json& object, std::string_view field, Json value) {
  return Json::object({{"metadata", Json::object({{"resourceVersion", api::resource_version_of(object)},
                                                  {"uid", api::uid_of(object)},
                                                  {field, value.empty() ? Json() : std::move(value)}})}});
}

void drop_finalizer(const api::KindInfo& kind, const Json& object, std::string_view finalizer, Plan& plan) {
  Json kept = Json::array();
  for (const Json& one : object["metadata"]["finalizers"].items())
    if (one.as_string() != finalizer) kept.push_back(one);
  plan.patch(kind.resource, object, client::PatchType::kMerge, metadata_patch(object, "finalizers", std::move(kept)))
      .missing_is_fine = true;
}

void drop_references(const api::KindInfo& kind, const Json& object, const Keys& uids, Plan& plan) {
  const std::set<std::string_view> gone(uids.begin(), uids.end());
  Json kept = Json::array();
  for (const Json& reference : object["metadata"]["ownerReferences"].items())
    if (!gone.contains(reference["uid"].as_string())) kept.push_back(reference);
  plan.patch(kind.resource, object, client::PatchType::kMerge,
             metadata_patch(object, "ownerReferences", std::move(kept)))
      .missing_is_fine = true;
}

bool waits_for_dependents(const Json& object) { return api::is_deleting(object) && has_finalizer(object, kForeground); }

// Whether an object that waits for its dependents is, some steps down, one of those that wait for it. It is taken for
// one if there are too many to look at: then it only holds up its owners no more, and a large circle would stay for
// ever.
bool waits_for_itself(const Kinds& kinds, const View& view, const Json& object) {
  constexpr std::size_t kObjectsMax = 1000;
  constexpr std::size_t kLooksMax = 100'000;  // at dependents and their references: each may be owned by all the others
  if (!holds_up_somebody(object)) return false;
  std::size_t looks = 0;
  const std::string_view self = api::uid_of(object);
  std::set<std::string_view> known = {self};
  std::vector<const Json*> next = {&object};
  while (!next.empty()) {
    if (known.size() > kObjectsMax) return true;
    const Json& owner = *next.back();
    next.pop_back();
    const std::vector<Dependent> dependents = dependents_of(kinds, view, owner);
    // Its own were looked at before it came to this, and may be the many pods of a job.
    if (&owner != &object) looks += dependents.size();
    for (const Dependent& one : dependents) {
      if (looks > kLooksMax) return true;
      if (!waits_for_dependents(*one.object)) continue;
      looks += (*one.object)["metadata"]["ownerReferences"].size();
      if (!blocks(*one.object, api::uid_of(owner))) continue;
      if (api::uid_of(*one.object) == self) return true;
      if (known.insert(api::uid_of(*one.object)).second) next.push_back(one.object);
    }
  }
  return false;
}

// Owners of each other in a circle would wait for each other for ever: this one holds up nobody any more.
void let_owners_go(const api::KindInfo& kind, const Json& object, Plan& plan) {
  Json references = object["metadata"]["ownerReferences"];
  for (std::size_t i = 0; i < references.size(); ++i)
    if (references[i]["blockOwnerDeletion"].as_bool()) references.edit(i).set("blockOwnerDeletion", false);
  plan.patch(kind.resource, object, client::PatchType::kMerge,
             metadata_patch(object, "ownerReferences", std::move(references)))
      .missing_is_fine = true;
}

// The owner that a reference leads to.
enum class Owner : std::uint8_t {
  kThere,  // or it is kept where nobody sees it from here
  kWaits,  // it is there until its dependents are gone
  kLost,   // not in the view
};

// A kind that is not served here may be kept elsewhere; and what has no namespace names no object of one.
Owner owner_at(const Kinds& kinds, const View& view, const api::KindInfo& kind, const Json& object,
               const Json& reference) {
  const auto* owner = kinds.referred(reference);
  if (!owner || !takes_part(*owner) || (owner->namespaced && !kind.namespaced)) return Owner::kThere;
  const std::string_view name = reference["name"].as_string();
  const Json* found = view.find(
      owner->resource, owner->namespaced ? base::format("{}/{}", api::namespace_of(object), name) : std::string(name));
  if (!found || api::uid_of(*found) != reference["uid"].as_string()) return Owner::kLost;
  return waits_for_dependents(*found) ? Owner::kWaits : Owner::kThere;
}

// One dependent of an object that waits for its dependents. It stays with an owner that stays. A dependent that has
// dependents itself waits for those, so that nothing runs any more when the first owner is gone.
void let_dependent_go(const Kinds& kinds, const View& view, const Dependent& one, std::string_view uid, Plan& plan) {
  bool lost = false;
  for (const Json& reference : (*one.object)["metadata"]["ownerReferences"].items()) {
    if (reference["uid"].as_string() == uid) continue;
    const Owner other = owner_at(kinds, view, *one.kind, *one.object, reference);
    if (other == Owner::kThere) return drop_references(*one.kind, *one.object, {std::string(uid)}, plan);
    lost = lost || other == Owner::kLost;
  }
  if (lost) return;  // its own turn asks the server for that owner, and comes back here
  Action& removal = plan.remove(one.kind->resource, *one.object);
  if (!dependents_of(kinds, view, *one.object).empty()) removal.body.set("propagationPolicy", "Foreground");
}

void finish_foreground(const Kinds& kinds, const View& view, const api::KindInfo& kind, const Json& object,
                       Plan& plan) {
  bool blocked = false;
  for (const Dependent& one : dependents_of(kinds, view, object)) {
    blocked = blocked || blocks(*one.object, api::uid_of(object));
    if (!api::is_deleting(*one.object)) let_dependent_go(kinds, view, one, api::uid_of(object), plan);
  }
  if (!blocked)
    drop_finalizer(kind, object, kForeground, plan);
  else if (waits_for_itself(kinds, view, object))
    let_owners_go(kind, object, plan);
}

void finish_orphaning(const Kinds& kinds, const View& view, const api::KindInfo& kind, const Json& object, Plan& plan) {
  const Keys self = {std::string(api::uid_of(object))};
  for (const Dependent& one : dependents_of(kinds, view, object)) drop_references(*one.kind, *one.object, self, plan);
  plan.begin_stage();
  drop_finalizer(kind, object, kOrphan, plan);
}

class OwnerController final : public Controller {
 public:
  std::string_view name() const override { return "owner-controller"; }

  std::vector<Write> writes() const override { return {{api::ResourceId{"*", "*", "*"}, "patch delete"}}; }
  std::vector<Wake> wakes_on() const override {
    std::vector<Wake> wakes;
    for (const api::KindInfo& kind : api::all_kinds())
      if (takes_part(kind)) wakes.push_back(wake_on(kind));
    return wakes;
  }

  std::vector<IndexBy> indexes() const override {
    std::vector<IndexBy> indexes;
    for (const api::KindInfo* kind : kinds_.all()) indexes.push_back({kind->resource, "owner", owner_uids});
    return indexes;
  }

  bool follows_definitions() const override { return true; }
  void kind_comes(const api::KindInfo& kind) override { kinds_.add(kind); }
  void kind_goes(const api::ResourceId& resource) override { kinds_.remove(resource); }
  std::vector<Wake> wakes_on_kind(const api::ResourceId& resource) override {
    return {wake_on(*kinds_.stranger(resource))};
  }
  std::vector<IndexBy> indexes_of_kind(const api::ResourceId& resource) override {
    return {{resource, "owner", owner_uids}};
  }

  Plan step(const View& view, const std::string& key, const Turn&) override {
    Plan plan;
    const std::size_t bar = key.find('|');
    const api::KindInfo* kind = kinds_.qualified(std::string_view(key).substr(0, bar));
    const Json* object = kind ? view.find(kind->resource, std::string_view(key).substr(bar + 1)) : nullptr;
    if (!object) return plan;
    if (api::is_deleting(*object)) {
      if (has_finalizer(*object, kOrphan))
        finish_orphaning(kinds_, view, *kind, *object, plan);
      else if (has_finalizer(*object, kForeground))
        finish_foreground(kinds_, view, *kind, *object, plan);
      return plan;
    }
    check_owners(view, *kind, *object, plan);
    return plan;
  }

 private:
  Wake wake_on(const api::KindInfo& kind) const {
    return {kind.resource, [this, &kind](const View& view, const Json& object) { return affected(view, kind, object); },
            [](const Json* before, const Json* after) {
              // Most objects have no owner, and most changes do not concern owners.
              if (before && after)
                return (*before)["metadata"]["ownerReferences"] != (*after)["metadata"]["ownerReferences"] ||
                       (*before)["metadata"]["finalizers"] != (*after)["metadata"]["finalizers"] ||
                       api::is_deleting(*before) != api::is_deleting(*after);
              return true;
            }};
  }

  // The object itself, what it owns, and what it is owned by (which may wait for it to go).
  Keys affected(const View& view, const api::KindInfo& kind, const Json& object) const {
    Keys keys;
    const Json& references = object["metadata"]["ownerReferences"];
    if (!references.empty() || !object["metadata"]["finalizers"].empty()) keys.push_back(key_for(kind, object));
    for (const Dependent& one : dependents_of(kinds_, view, object)) keys.push_back(key_for(*one.kind, *one.object));
    for (const Json& reference : references.items())
      if (const auto* owner = kinds_.referred(reference))
        keys.push_back(base::format("{}|{}{}{}", api::qualified_plural(*owner),
                                    owner->namespaced ? api::namespace_of(object) : "", owner->namespaced ? "/" : "",
                                    reference["name"].as_string()));
    return keys;
  }

  void check_owners(const View& view, const api::KindInfo& kind, const Json& object, Plan& plan) const {
    Keys lost;
    bool kept = false;
    for (const Json& reference : object["metadata"]["ownerReferences"].items()) {
      if (owner_at(kinds_, view, kind, object, reference) != Owner::kLost) {
        kept = true;
        continue;
      }
      const api::KindInfo& owner = *kinds_.referred(reference);
      lost.push_back(reference["uid"].str());
      plan.require_gone(owner.resource, owner.kind, owner.namespaced ? api::namespace_of(object) : "",
                        reference["name"].as_string(), lost.back());
    }
    if (lost.empty()) return;
    plan.begin_stage();
    if (kept)
      drop_references(kind, object, lost, plan);
    else
      plan.remove(kind.resource, object);
  }

  Kinds kinds_;
};

}  // namespace

std::unique_ptr<Controller> make_owner_controller() { return std::make_unique<OwnerController>(); }

}  // namespace controllers::cluster
