// The demands of a pod on a node. Pods whose answers are equal share one Shape.
#include "scheduler/model/pods/shape.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "api/meta/resource.h"
#include "api/pod_requests.h"
#include "scheduler/model/pods/items_by_name.h"
#include "scheduler/model/pods/pod_terms.h"

namespace scheduler {
namespace {

constexpr std::int64_t kDefaultMilliCpu = 100;
constexpr std::int64_t kDefaultMemory = 200 * 1024 * 1024;
constexpr std::size_t kImageLengthMax = 1024;  // no registry has longer ones, and symbols are kept for ever

// The text that is made of a pod.
struct Key {
  std::string& text;
  PartTexts* known;  // may be null
};

void append(Key& out, char tag, const api::Json& value) {
  if (value.is_null()) return;
  out.text.push_back(tag);
  if (out.known == nullptr || (!value.is_object() && !value.is_array())) return value.dump_to(out.text);
  const std::string* text = out.known->find(value);
  out.text.append(text != nullptr ? *text : out.known->keep(value, value.dump()));
}

bool is_sidecar(const api::Json& container) { return container["restartPolicy"].as_string() == "Always"; }

void append_containers(Key& out, char tag, const api::Json& containers) {
  for (const api::Json& container : containers.items()) {
    out.text.push_back(tag);
    if (is_sidecar(container)) out.text.push_back('s');
    append(out, 'r', container["resources"]);
    append(out, 'i', container["image"]);
    for (const api::Json& port : container["ports"].items()) {
      if (port["hostPort"].as_int() > 0) append(out, 'p', port);
    }
  }
}

Request requests_of(const api::Json& container, Dimensions& dimensions) {
  return request_from(api::resource_list_from(container["resources"]["requests"]), dimensions);
}

// The kubelet's grants, where they are not simply what the spec asks for; by the container's position.
bool append_granted(Key& out, char tag, const api::Json& containers, const api::Json& statuses) {
  bool differs = false;
  const ItemsByName named(containers);
  for (const api::Json& status : statuses.items()) {
    const api::Json& granted = status["resources"]["requests"];
    const api::Json& allocated = status["allocatedResources"];
    if (granted.is_null() && allocated.is_null()) continue;
    named.each(status["name"].as_string(), [&](std::size_t position, const api::Json& container) {
      const api::Json& asked = container["resources"]["requests"];
      const auto as_asked = [&](const api::Json& one) { return one.is_null() || one == asked; };
      if (as_asked(granted) && as_asked(allocated)) return;
      append(out, tag, static_cast<std::int64_t>(position));
      append(out, 'r', status["resources"]);
      append(out, 'a', status["allocatedResources"]);
      differs = true;
    });
  }
  return differs;
}

void append_resize(Key& out, const api::Json& pod) {
  bool differs = append_granted(out, 'q', pod["spec"]["containers"], pod["status"]["containerStatuses"]);
  differs |= append_granted(out, 'Q', pod["spec"]["initContainers"], pod["status"]["initContainerStatuses"]);
  if (differs && api::is_resize_infeasible(pod)) out.text.push_back('X');
}

bool is_pod_level_resource(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

// In-place resize: what the kubelet has granted counts while it is more than the spec asks for. Amounts below zero in a
// status do not count.
Request effective_request(const api::Json& container, const ItemsByName& statuses, bool is_infeasible,
                          Dimensions& dimensions) {
  Request out = requests_of(container, dimensions);
  bool is_refused = false;
  statuses.each(container["name"].as_string(), [&](std::size_t, const api::Json& status) {
    if (is_refused || !status["resources"].is_object()) return;
    const api::Json &held = status["resources"]["requests"], &set_aside = status["allocatedResources"];
    if (held.is_null() && set_aside.is_null()) return;  // as in the text of the shape
    Request granted;
    granted.set_max(request_from(api::resource_list_from(held), dimensions));
    granted.set_max(request_from(api::resource_list_from(set_aside), dimensions));
    if (is_refused = is_infeasible; is_refused)
      out = std::move(granted);
    else
      out.set_max(granted);
  });
  return out;
}

struct NonZero {
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
};

NonZero nonzero_of(const Request& request, const api::Json& container) {
  const api::Json& named = container["resources"]["requests"];
  return {named.has("cpu") ? request.get(kCpu) : kDefaultMilliCpu,
          named.has("memory") ? request.get(kMemory) : kDefaultMemory};
}

// Non-zero requests follow the same algorithm as requests, on the two dimensions that scores read.
NonZero pod_nonzero(const api::Json& pod, Dimensions& dimensions) {
  NonZero sum, most, sidecars;
  for (const api::Json& container : pod["spec"]["containers"].items()) {
    const NonZero one = nonzero_of(requests_of(container, dimensions), container);
    sum.cpu += one.cpu;
    sum.memory += one.memory;
  }
  for (const api::Json& container : pod["spec"]["initContainers"].items()) {
    NonZero one = nonzero_of(requests_of(container, dimensions), container);
    if (is_sidecar(container)) {
      sum.cpu += one.cpu;
      sum.memory += one.memory;
      sidecars.cpu += one.cpu;
      sidecars.memory += one.memory;
      one = sidecars;
    } else {
      one.cpu += sidecars.cpu;
      one.memory += sidecars.memory;
    }
    most.cpu = std::max(most.cpu, one.cpu);
    most.memory = std::max(most.memory, one.memory);
  }
  NonZero out{std::max(sum.cpu, most.cpu), std::max(sum.memory, most.memory)};
  const Request overhead = request_from(api::resource_list_from(pod["spec"]["overhead"]), dimensions);
  out.cpu += overhead.get(kCpu);
  out.memory += overhead.get(kMemory);
  return out;
}

void read_node_affinity(const api::Json& affinity, Symbols& symbols, Shape& out) {
  const api::Json& required = affinity["requiredDuringSchedulingIgnoredDuringExecution"];
  out.has_required_terms = required.is_object();
  std::size_t terms = 0;
  const auto count = [&terms](const api::Json& term) {
    terms += 1 + term["matchExpressions"].size() + term["matchFields"].size();
  };
  for (const api::Json& term : required["nodeSelectorTerms"].items()) count(term);
  for (const api::Json& item : affinity["preferredDuringSchedulingIgnoredDuringExecution"].items())
    count(item["preference"]);
  out.has_too_many_terms = terms > kNodeTermsMax;
  if (out.has_too_many_terms) return;
  for (const api::Json& term : required["nodeSelectorTerms"].items()) {
    out.required_terms.push_back(node_term_from(term, symbols));
  }
  for (const api::Json& item : affinity["preferredDuringSchedulingIgnoredDuringExecution"].items()) {
    NodeTerm term = node_term_from(item["preference"], symbols);
    term.weight = item["weight"].as_int();
    if (term.weight != 0 && !term.is_empty()) out.preferred_terms.push_back(std::move(term));
  }
}

void read_image(std::string image, Symbols& symbols, Shape& out) {
  ++out.image_places;
  if (image.empty() || image.size() > kImageLengthMax) return;
  const std::size_t slash = image.rfind('/');
  if (image.find(':', slash == std::string::npos ? 0 : slash) == std::string::npos) image += ":latest";
  out.images.push_back(symbols.intern(image));
}

void read_containers(const api::Json& containers, Symbols& symbols, bool init, Shape& out) {
  for (const api::Json& container : containers.items()) {
    read_image(container["image"].str(), symbols, out);
    if (init && is_sidecar(container)) out.sidecars = true;
    if (init && !is_sidecar(container)) continue;
    for (const api::Json& port : container["ports"].items()) {
      if (port["hostPort"].as_int() <= 0) continue;
      HostPort one{port["hostIP"].str(), port["protocol"].str(), port["hostPort"].as_int()};
      if (one.ip.empty()) one.ip = "0.0.0.0";
      if (one.protocol.empty()) one.protocol = "TCP";
      out.ports.push_back(std::move(one));
    }
  }
}

std::string revocable_zone_of(const api::Json& pod) {
  const api::Json& annotations = pod["metadata"]["annotations"];
  if (const api::Json* zone = annotations.find("volcano.sh/revocable-zone")) return zone->as_string() == "*" ? "*" : "";
  return parse_go_bool(annotations["volcano.sh/preemptable"].as_string()) ? "*" : "";
}

constexpr std::string_view kNumaPolicy = "volcano.sh/numa-topology-policy";

std::vector<ClaimUse> claims_of(const api::Json& pod) {
  std::vector<ClaimUse> out;
  if (pod["spec"]["resourceClaims"].empty()) return out;
  std::map<std::string_view, const api::Json*> statuses;  // of equal names the first
  for (const api::Json& status : pod["status"]["resourceClaimStatuses"].items())
    statuses.emplace(status["name"].as_string(), &status);
  for (const api::Json& use : pod["spec"]["resourceClaims"].items()) {
    ClaimUse one{use["name"].str(), use["resourceClaimName"].str(), false};
    const bool resolved = !one.claim.empty();
    bool needed = true;
    one.templated = !resolved;
    const auto status = statuses.find(use["name"].as_string());
    if (!resolved && status != statuses.end()) {
      one.claim = (*status->second)["resourceClaimName"].str();
      needed = !one.claim.empty();  // a template may make none: then there is nothing to wait for
    }
    if (needed) out.push_back(std::move(one));
  }
  return out;
}

// The members of `from` that `keys` name. Nearly no pod has any, which the lengths of its names say.
template <std::size_t N>
void add_preferences(const std::array<std::string_view, N>& keys, const api::Json& from,
                     std::map<std::string, std::string, std::less<>>& out) {
  std::uint64_t lengths = 0;  // bits
  for (const std::string_view key : keys) lengths |= std::uint64_t{1} << key.size();
  for (const api::Json::Member& one : from.members()) {
    const std::string_view name = one.name();
    if (name.size() < 64 && (lengths >> name.size() & 1) != 0 && std::ranges::find(keys, name) != keys.end())
      out.emplace(name, one.value.str());
  }
}

// Annotations and labels by which a pod chooses among devices.
std::map<std::string, std::string, std::less<>> device_preferences_of(const api::Json& pod) {
  static constexpr std::array<std::string_view, 8> kAnnotations = {kNumaPolicy,
                                                                   "volcano.sh/vgpu-mode",
                                                                   "volcano.sh/vgpu-use-gpuuuid",
                                                                   "volcano.sh/vgpu-nouse-gpuuuid",
                                                                   "volcano.sh/vgpu-podgroup-policy",
                                                                   "nvidia.com/use-gputype",
                                                                   "nvidia.com/nouse-gputype",
                                                                   "huawei.com/vnpu-mode"};
  static constexpr std::array<std::string_view, 3> kLabels = {"ring-controller.atlas", "vnpu-level", "vnpu-dvpp"};
  std::map<std::string, std::string, std::less<>> out;
  const api::Json& metadata = pod["metadata"];
  add_preferences(kAnnotations, metadata["annotations"], out);
  add_preferences(kLabels, metadata["labels"], out);
  return out;
}

std::optional<api::Quantity> amount_of(const api::Json& list, std::string_view name) {
  return api::Quantity::from_json(list[name]);
}

bool is_guaranteed(const api::Json& spec) {
  bool any = false;
  for (const std::string_view list : {"containers", "initContainers"}) {
    for (const api::Json& container : spec[list].items()) {
      for (const std::string_view name : {"cpu", "memory"}) {
        const auto limit = amount_of(container["resources"]["limits"], name);
        const auto request = amount_of(container["resources"]["requests"], name);
        if (!limit || limit->is_zero() || (request && *request != *limit)) return false;
        any = true;
      }
    }
  }
  return any;
}

void read_asks(const api::Json& containers, bool init, std::vector<ContainerAsk>& out) {
  for (const api::Json& container : containers.items()) {
    ContainerAsk ask{.name = container["name"].str(), .init = init};
    const api::Json& resources = container["resources"];
    const auto cpu = amount_of(resources["requests"], "cpu");
    const auto limit = amount_of(resources["limits"], "cpu");
    ask.cpu = cpu ? cpu->milli_value() : limit ? limit->milli_value() : 0;
    for (const std::string_view list : {"limits", "requests"}) {
      for (const auto& member : resources[list].members()) {
        if (member.name().find('/') == std::string_view::npos) continue;
        const auto amount = api::Quantity::from_json(member.value);
        if (amount) ask.devices.emplace(std::string(member.name()), amount->value());
      }
    }
    out.push_back(std::move(ask));
  }
}

}  // namespace

void shape_key(const api::Json& pod, std::string& text, PartTexts* known) {
  text.clear();
  Key out{text, known};
  const api::Json& spec = pod["spec"];
  append_containers(out, 'C', spec["containers"]);
  append_containers(out, 'I', spec["initContainers"]);
  append(out, 'O', spec["overhead"]);
  append(out, 'R', spec["resources"]);
  append(out, 'S', spec["nodeSelector"]);
  append(out, 'A', spec["affinity"]);
  append(out, 'T', spec["tolerations"]);
  append(out, 'P', spec["topologySpreadConstraints"]);
  const api::Json& affinity = spec["affinity"];
  bool namespaced =
      !spec["topologySpreadConstraints"].empty() || affinity.has("podAffinity") || affinity.has("podAntiAffinity");
  bool label_keys = false;
  if (namespaced) label_keys = text.find("atchLabelKeys") != std::string::npos;
  for (const api::Json& volume : spec["volumes"].items()) {
    if (const api::Json* claim = volume.find("persistentVolumeClaim")) {
      append(out, 'V', (*claim)["claimName"]);
      namespaced = true;
    } else if (volume.has("ephemeral")) {
      append(out, 'E', pod["metadata"]["name"].str() + "-" + volume["name"].str());
      namespaced = true;
    } else if (const api::Json* image = volume.find("image")) {
      append(out, 'G', api::Json((*image)["reference"].as_string()));
    }
  }
  for (const ClaimUse& use : claims_of(pod)) {
    append(out, 'D', use.pod_claim);
    append(out, use.templated ? 't' : 'c', use.claim);
    namespaced = true;
  }
  if (namespaced) append(out, 'N', api::namespace_of(pod));
  if (label_keys) append(out, 'L', pod["metadata"]["labels"]);
  append_resize(out, pod);
  for (const auto& [key, value] : device_preferences_of(pod)) {
    append(out, 'W', key);
    append(out, 'v', value);
  }
  text += "Z" + revocable_zone_of(pod);
}

Request pod_request(const api::Json& pod, Dimensions& dimensions) {
  Request sum, most, sidecars;
  const api::Json& spec = pod["spec"];
  const api::Json& status = pod["status"];
  const bool is_infeasible = api::is_resize_infeasible(pod);
  const ItemsByName statuses(status["containerStatuses"]), of_init(status["initContainerStatuses"]);
  for (const api::Json& container : spec["containers"].items())
    sum.add(effective_request(container, statuses, is_infeasible, dimensions));
  for (const api::Json& container : spec["initContainers"].items()) {
    Request one = requests_of(container, dimensions);
    if (is_sidecar(container)) {
      one = effective_request(container, of_init, is_infeasible, dimensions);
      sum.add(one);
      sidecars.add(one);
      for (Part& part : one.parts) part.amount = sidecars.get(part.dim);
    } else {
      for (Part& part : one.parts) one.add(part.dim, sidecars.get(part.dim));
    }
    most.set_max(one);  // of what it does not ask for, no step is larger than that of the last sidecar which does
  }
  sum.set_max(most);
  for (const auto& [name, quantity] : api::resource_list_from(spec["resources"]["requests"])) {
    if (!is_pod_level_resource(name)) continue;
    if (auto dim = dimensions.dim_of(name)) sum.add(*dim, Dimensions::amount_of(*dim, quantity) - sum.get(*dim));
  }
  sum.add(request_from(api::resource_list_from(spec["overhead"]), dimensions));
  for (Part& part : sum.parts) part.amount = std::max<std::int64_t>(part.amount, 0);
  sum.add(kPods, 1);
  return sum;
}

Shape shape_from(const api::Json& pod, Dimensions& dimensions, Symbols& symbols, MatcherSource& matchers) {
  Shape out;
  const api::Json& spec = pod["spec"];
  out.request = pod_request(pod, dimensions);
  out.best_effort = out.request.is_empty();
  const NonZero nonzero = pod_nonzero(pod, dimensions);
  out.nonzero_cpu = std::max(nonzero.cpu, out.request.get(kCpu));
  out.nonzero_memory = std::max(nonzero.memory, out.request.get(kMemory));
  out.ns = std::string(api::namespace_of(pod));
  out.node_selector = labels_from(spec["nodeSelector"], symbols);
  read_node_affinity(spec["affinity"]["nodeAffinity"], symbols, out);
  out.tolerations = tolerations_from(spec["tolerations"], symbols);
  read_containers(spec["containers"], symbols, false, out);
  read_containers(spec["initContainers"], symbols, true, out);
  std::ranges::sort(out.ports, {}, [](const HostPort& one) { return std::tie(one.port, one.protocol, one.ip); });
  read_pod_terms(pod, symbols, matchers, out);
  for (const api::Json& volume : spec["volumes"].items()) {
    if (const api::Json* claim = volume.find("persistentVolumeClaim")) {
      out.volumes.push_back({(*claim)["claimName"].str(), false});
    } else if (volume.has("ephemeral")) {
      out.volumes.push_back({std::string(api::name_of(pod)) + "-" + volume["name"].str(), true});
    } else if (const api::Json* image = volume.find("image")) {
      read_image((*image)["reference"].str(), symbols, out);
    }
  }
  out.revocable_zone = revocable_zone_of(pod);
  out.claims = claims_of(pod);
  out.device_preferences = device_preferences_of(pod);
  if (auto policy = out.device_preferences.find(kNumaPolicy); policy != out.device_preferences.end())
    out.numa_policy = policy->second;
  out.guaranteed = is_guaranteed(spec);
  read_asks(spec["initContainers"], true, out.asks);
  read_asks(spec["containers"], false, out.asks);
  const bool devices =
      std::any_of(out.asks.begin(), out.asks.end(), [](const ContainerAsk& ask) { return !ask.devices.empty(); });
  if (!devices && !out.guaranteed) out.asks.clear();
  return out;
}

bool parse_go_bool(std::string_view text) {
  return text == "1" || text == "t" || text == "T" || text == "TRUE" || text == "true" || text == "True";
}

}  // namespace scheduler
