// The demands of a pod on a node. Pods whose answers are equal share one Shape.
//
// The key of a shape is a canonical text of every field of the pod that a filter or a score reads, except its labels:
// those matter only through the matchers that select them (affinity.h), and are interned apart.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/json/by_identity.h"
#include "api/json/json.h"
#include "scheduler/model/core/ids.h"
#include "scheduler/model/core/resource.h"
#include "scheduler/model/core/selector.h"

namespace scheduler {

struct HostPort {
  std::string ip;
  std::string protocol;
  std::int64_t port = 0;
};

// Which pods a term looks at. Namespaces: the listed ones and those that the namespace selector chooses.
struct PodSelector {
  std::vector<Symbol> namespaces;
  LabelSelector namespace_selector;
  LabelSelector labels;
  bool operator==(const PodSelector&) const = default;
};

// The limit of terms about other pods. Each is held against all of them, and so is each other pod against each term; a
// pod with more fits nowhere, and none of its terms holds.
inline constexpr std::size_t kPodTermsMax = 256;
inline constexpr std::size_t kPodRequirementsMax = 1024;  // labels, keys and namespaces of all of them

// The limit of terms and expressions about nodes, required and preferred: some are held against each node. A pod with
// more fits nowhere.
inline constexpr std::size_t kNodeTermsMax = 1024;

struct PodTerm {
  MatcherId matcher;
  Symbol topology_key;
  std::int64_t weight = 0;  // of preferred terms; negative for anti-affinity
};

struct SpreadConstraint {
  MatcherId matcher;
  Symbol topology_key;
  std::int64_t max_skew = 1;
  std::int64_t min_domains = 0;  // 0: not set
  bool hard = true;              // DoNotSchedule
  bool honor_affinity = true;
  bool honor_taints = false;
};

struct VolumeUse {
  std::string claim;       // the PersistentVolumeClaim's name
  bool ephemeral = false;  // made for this pod alone
};

// A claim on devices (resource.k8s.io); empty: made from a template, and not yet there.
struct ClaimUse {
  std::string pod_claim;  // the name within the pod
  std::string claim;
  bool templated = false;  // made for this pod alone
};

// The devices and whole CPUs that one container asks for.
struct ContainerAsk {
  std::string name;
  bool init = false;
  std::int64_t cpu = 0;                                      // thousandths; requested
  std::map<std::string, std::int64_t, std::less<>> devices;  // extended resources: limits, or else requests
};

struct Shape {
  Request request;
  std::int64_t nonzero_cpu = 0;
  std::int64_t nonzero_memory = 0;
  bool best_effort = false;
  bool sidecars = false;  // has a restartable init container
  std::string ns;         // set only where the namespace matters
  Labels node_selector;
  bool has_required_terms = false;
  bool has_too_many_terms = false;  // about other pods, or about nodes: it fits nowhere
  std::vector<NodeTerm> required_terms;
  std::vector<NodeTerm> preferred_terms;
  std::vector<Toleration> tolerations;
  std::vector<HostPort> ports;  // by port, protocol and address
  std::vector<PodTerm> affinity;
  std::vector<PodTerm> anti_affinity;
  std::vector<PodTerm> preferred_pods;
  std::vector<SpreadConstraint> spread;
  std::vector<VolumeUse> volumes;
  std::vector<Symbol> images;
  std::int32_t image_places = 0;  // containers, init containers and volumes that are images
  std::string revocable_zone;
  std::vector<ClaimUse> claims;
  std::vector<ContainerAsk> asks;  // of pods that ask for extended resources, or are Guaranteed
  bool guaranteed = false;         // QoS: every container limits cpu and memory to what it asks for
  std::string numa_policy;         // volcano.sh/numa-topology-policy
  std::map<std::string, std::string, std::less<>> device_preferences;  // annotations and labels that choose devices

  std::uint32_t uses = 0;     // tasks of this shape
  std::uint32_t pending = 0;  // of them Pending

  bool reads_pods() const {
    return !affinity.empty() || !anti_affinity.empty() || !preferred_pods.empty() || !spread.empty();
  }
  // Filters or scores of this shape look at more than the node's own columns.
  bool is_plain() const { return !reads_pods() && volumes.empty() && ports.empty(); }
};

// The texts of parts that came lately.
using PartTexts = api::ByIdentity<std::string>;

// The canonical text. `out` is cleared first; `known` may be null.
void shape_key(const api::Json& pod, std::string& out, PartTexts* known = nullptr);

// The sum of what the pod asks for (containers, init containers, sidecars, overhead, pod level), with one pod.
Request pod_request(const api::Json& pod, Dimensions& dimensions);

// Makes the shape; `matcher_for` interns selectors over pods.
class MatcherSource {
 public:
  virtual ~MatcherSource() = default;
  virtual MatcherId matcher_for(std::vector<PodSelector> all_of) = 0;
};
Shape shape_from(const api::Json& pod, Dimensions& dimensions, Symbols& symbols, MatcherSource& matchers);

// True for the words that Go takes for true.
bool parse_go_bool(std::string_view text);

}  // namespace scheduler
