// Resizing in place, as decisions: whether a wish fits into the node, and what is next until what runs has what was set
// aside for it. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/schema/quantity.h"
#include "node/machine/runtime.h"
#include "node/pod/pod_state.h"

namespace node {

// `resources` of containers, by name; those of the pod as a whole are under kWholePod.
using ContainerAmounts = std::map<std::string, api::Json, std::less<>>;
inline constexpr std::string_view kWholePod;  // no container has this name

// The containers of the spec, without ephemeral containers, which have no amounts.
ContainerAmounts amounts_of(const api::Json& pod);
// The pod as if its spec asked for these; containers that they do not name stay.
api::Json with_amounts(const api::Json& pod, const ContainerAmounts& amounts);
// Whether cpu and memory are the same.
bool same_amounts(const api::Json& one, const api::Json& other);
bool has_amounts(const api::Json& pod);

// The amounts of the pod's control group.
PodAmounts pod_amounts(const api::Json& pod);
// The cpu and memory that a pod takes of its node.
api::ResourceList taken_by(const api::Json& pod);

struct ResizeVerdict {
  enum class Kind : std::uint8_t { kFits, kDeferred, kInfeasible };

  Kind kind = Kind::kFits;
  std::string message = {};  // a kubelet's; empty: it fits
};
// `others`: what the other pods of the node take. A resize that raises nothing always fits.
ResizeVerdict judge_resize(const api::Json& wanted, const api::Json& present, const api::ResourceList& allocatable,
                           const api::ResourceList& others);

// Why a pod that has not begun has no room, in a kubelet's words. `others`: what the pods take that have.
struct Shortage {
  std::string resource;
  std::string message;
};
std::optional<Shortage> lacks_room(const api::Json& pod, const api::ResourceList& allocatable,
                                   const api::ResourceList& others);

struct ResizeStep {
  enum class Kind : std::uint8_t { kApply, kRestart, kWait, kDone };

  Kind kind = Kind::kDone;
  PodResize change = {};                  // of kApply
  std::vector<std::size_t> updated = {};  // of kApply: containers of PodState that it is about
  std::vector<std::size_t> restarted = {};
};
// `pod` asks for what was set aside. `held`: limits of the pod's control group; nothing: not known.
ResizeStep next_resize_step(const api::Json& pod, const PodState& state, const std::optional<PodAmounts>& held);

// "Pod resize started: {"containers":[...],"generation":2}", as a kubelet's event says it.
std::string resize_text(std::string_view what, const api::Json& pod, std::int64_t generation, std::string_view error);

}  // namespace node
