// The knowledge that controllers of Kubernetes' workloads share about pods and their owners.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "api/selector.h"
#include "base/time.h"
#include "controllers/framework/controller.h"

namespace controllers::workloads {

inline const api::ResourceId kDeployments{"apps", "v1", "deployments"};
inline const api::ResourceId kDaemonSets{"apps", "v1", "daemonsets"};
inline const api::ResourceId kControllerRevisions{"apps", "v1", "controllerrevisions"};
inline const api::ResourceId kBatchJobs{"batch", "v1", "jobs"};
inline const api::ResourceId kBatchCronJobs{"batch", "v1", "cronjobs"};

// True unless the pod is over or on its way out.
bool is_active(const api::Json& pod);
bool is_over(const api::Json& pod);
// The condition Ready with status True, or null.
const api::Json& ready_condition(const api::Json& pod);
bool is_ready(const api::Json& pod);
// When a ready pod counts as available; nothing: it is not ready.
std::optional<base::Time> available_at(const api::Json& pod, std::int64_t min_ready_seconds);

base::Time time_in(const api::Json& text);
// The condition of a type, or null.
const api::Json& condition_of(const api::Json& status, std::string_view type);

// A name that is not taken in the owner's namespace: `prefix` and five characters that depend on the owner, the time
// and `index`.
std::string fresh_name(const std::function<bool(std::string_view name)>& is_taken, const api::Json& owner,
                       std::string_view prefix, base::Time now, std::size_t index);
// Whether an object of this resource in the owner's namespace has a name. The view and the owner outlive the answer.
std::function<bool(std::string_view name)> names_taken(const View& view, const api::ResourceId& resource,
                                                       const api::Json& owner);
// A number from a text, the same on every machine and in every version.
std::uint64_t hash_of(std::string_view text);
std::string hash_text(std::uint64_t hash, std::size_t length);

// A pod as `pod_template` has it, of `owner`, which is of the given type.
api::Json pod_from(const api::Json& pod_template, const api::Json& owner, std::string_view api_version,
                   std::string_view kind, std::string name);
// The events of a pod's creation, and of a refusal; `name` is the pod's.
void set_creation_events(Action& action, std::string name);
api::Json owner_reference(const api::Json& owner, std::string_view api_version, std::string_view kind);

// Indexes that these controllers share: objects by their controller, and those of a namespace without one.
std::vector<IndexBy> ownership_indexes(const api::ResourceId& resource);
// The objects that the object with this uid controls. A reference to it from another namespace is none, whoever wrote
// it.
std::vector<const api::Json*> controlled_by(const View& view, const api::ResourceId& resource, std::string_view ns,
                                            std::string_view uid);
std::vector<const api::Json*> controlled_by(const View& view, const api::ResourceId& resource, const api::Json& owner);

// The objects that an owner selects, sorted out. Only objects of its namespace are looked at.
struct Claim {
  std::vector<const api::Json*> owned;    // that match; also those that are being deleted
  std::vector<const api::Json*> adopt;    // without a controller, and matching
  std::vector<const api::Json*> release;  // owned, and no longer matching
};
Claim claim(const View& view, const api::ResourceId& resource, const api::Json& owner,
            const api::LabelSelector& selector);
// Writes the adoptions and releases; later stages wait for them.
void settle_claim(Plan& plan, const api::ResourceId& resource, const Claim& claimed, const api::Json& owner,
                  std::string_view api_version, std::string_view kind);
// The revisions of a set, and those that it adopts from one before it (deleted with --cascade=orphan).
struct Revisions {
  std::vector<const api::Json*> owned;
  Claim claimed;
};
Revisions revisions_of(const View& view, const api::Json& set);
// Writes the adoptions. All of them, by number.
std::vector<const api::Json*> settle_revisions(Plan& plan, const Revisions& revisions, const api::Json& set,
                                               std::string_view kind);
// A pod that failed is made again after this long from its creation: what a node refuses, it refuses at once.
inline constexpr base::Duration kFailedRests = base::seconds(10);
// How long a pod that has failed still takes the place of the next; zero: not at all.
base::Duration failed_rest(const api::Json& pod, base::Time now);
// The keys of the owners that a change of `object` concerns: its controller if that is of this type, else, without a
// controller, all of `owners` in its namespace whose selector matches.
Keys owners_of(const View& view, const api::Json& object, const api::ResourceId& owners, std::string_view kind);

// Only numbers, lists and times differ, but for what `conditions` say.
bool differs_in_numbers_only(const api::Json& before, const api::Json& after);
// Writes `status` if it is new; one in which only numbers are new waits its turn.
void write_status(Plan& plan, const api::ResourceId& resource, const api::Json& object, api::Json status,
                  const Turn& turn);
// Sets a count, or leaves it out where it is zero, as Kubernetes' types do.
void set_count(api::Json& status, std::string_view field, std::int64_t count);
// A selector as spec.selector has it: a LabelSelector, or the map of a ReplicationController. An unusable one matches
// nothing.
std::optional<api::LabelSelector> selector_of(const api::Json& owner);

}  // namespace controllers::workloads
