// Terms of a pod about other pods, as selectors and matchers.
#include "scheduler/model/pods/pod_terms.h"

#include <algorithm>
#include <set>

#include "api/meta/resource.h"

namespace scheduler {
namespace {

PodSelector pod_selector_from(const api::Json& term, Symbol own_namespace, Symbols& symbols) {
  PodSelector out;
  for (const api::Json& ns : term["namespaces"].items()) out.namespaces.push_back(symbols.intern(ns.as_string()));
  out.namespace_selector = label_selector_from(term["namespaceSelector"], symbols);
  if (out.namespaces.empty() && !out.namespace_selector.present) out.namespaces.push_back(own_namespace);
  std::sort(out.namespaces.begin(), out.namespaces.end());
  out.labels = label_selector_from(term["labelSelector"], symbols);
  return out;
}

void add_label_keys(PodSelector& selector, const api::Json& keys, const api::Json& pod, Symbols& symbols, bool invert) {
  for (const api::Json& key : keys.items()) {
    const api::Json* value = pod["metadata"]["labels"].find(key.as_string());
    if (value == nullptr) continue;
    selector.labels.requirements.push_back({.key = symbols.intern(key.as_string()),
                                            .op = invert ? Requirement::Op::kNotIn : Requirement::Op::kIn,
                                            .values = {symbols.intern(value->as_string())}});
  }
}

struct PodTermReader {
  const api::Json& pod;
  Symbols& symbols;
  MatcherSource& matchers;
  Symbol own_namespace;

  PodSelector selector(const api::Json& term) const {
    PodSelector out = pod_selector_from(term, own_namespace, symbols);
    add_label_keys(out, term["matchLabelKeys"], pod, symbols, false);
    add_label_keys(out, term["mismatchLabelKeys"], pod, symbols, true);
    return out;
  }
  PodTerm term(const api::Json& json, std::int64_t weight) const {
    return {matchers.matcher_for({selector(json)}), symbols.intern(json["topologyKey"].as_string()), weight};
  }
};

// Required affinity asks for domains that hold a pod matching all terms at once, so every term gets the joint matcher.
void read_required(const PodTermReader& reader, const api::Json& list, bool joint, std::vector<PodTerm>& out) {
  std::vector<PodSelector> all;
  for (const api::Json& term : list.items()) all.push_back(reader.selector(term));
  const auto key_of = [&](const api::Json& term) { return reader.symbols.intern(term["topologyKey"].as_string()); };
  if (!joint) {
    for (std::size_t i = 0; i < all.size(); ++i)
      out.push_back({reader.matchers.matcher_for({all[i]}), key_of(list.items()[i]), 0});
    return;
  }
  if (all.empty()) return;
  const auto matcher = reader.matchers.matcher_for(all);
  std::set<Symbol> keys;  // terms of one key are one then
  for (const api::Json& term : list.items())
    if (const Symbol key = key_of(term); keys.insert(key).second) out.push_back({matcher, key, 0});
}

void read_preferred(const PodTermReader& reader, const api::Json& list, std::int64_t sign, std::vector<PodTerm>& out) {
  for (const api::Json& item : list.items()) {
    if (item["weight"].as_int() != 0)
      out.push_back(reader.term(item["podAffinityTerm"], sign * item["weight"].as_int()));
  }
}

void read_spread(const PodTermReader& reader, const api::Json& list, std::vector<SpreadConstraint>& out) {
  for (const api::Json& item : list.items()) {
    SpreadConstraint one;
    PodSelector selector;
    selector.namespaces = {reader.own_namespace};
    selector.labels = label_selector_from(item["labelSelector"], reader.symbols);
    add_label_keys(selector, item["matchLabelKeys"], reader.pod, reader.symbols, false);
    if (selector.labels.is_empty()) selector.labels.present = false;  // an empty selector counts no pods
    one.matcher = reader.matchers.matcher_for({selector});
    one.topology_key = reader.symbols.intern(item["topologyKey"].as_string());
    one.max_skew = item["maxSkew"].as_int(1);
    one.min_domains = item["minDomains"].as_int(0);
    one.hard = item["whenUnsatisfiable"].as_string() != "ScheduleAnyway";
    one.honor_affinity = item["nodeAffinityPolicy"].as_string() != "Ignore";
    one.honor_taints = item["nodeTaintsPolicy"].as_string() == "Honor";
    out.push_back(one);
  }
}

// The number of questions about each set of labels.
std::size_t requirements_of(const api::Json& term) {
  std::size_t all = term["namespaces"].size() + term["matchLabelKeys"].size() + term["mismatchLabelKeys"].size();
  for (const char* field : {"labelSelector", "namespaceSelector"})
    all += term[field]["matchLabels"].size() + term[field]["matchExpressions"].size();
  return all;
}

}  // namespace

void read_pod_terms(const api::Json& pod, Symbols& symbols, MatcherSource& matchers, Shape& out) {
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  const api::Json& spec = pod["spec"];
  const api::Json& together = spec["affinity"]["podAffinity"];
  const api::Json& apart = spec["affinity"]["podAntiAffinity"];
  const std::size_t terms = together[kRequired].size() + together[kPreferred].size() + apart[kRequired].size() +
                            apart[kPreferred].size() + spec["topologySpreadConstraints"].size();
  out.has_too_many_terms |= terms > kPodTermsMax;
  if (out.has_too_many_terms) return;
  std::size_t requirements = 0;
  for (const api::Json* affinity : {&together, &apart}) {
    for (const api::Json& term : (*affinity)[kRequired].items()) requirements += requirements_of(term);
    for (const api::Json& one : (*affinity)[kPreferred].items())
      requirements += requirements_of(one["podAffinityTerm"]);
  }
  for (const api::Json& one : spec["topologySpreadConstraints"].items()) requirements += requirements_of(one);
  out.has_too_many_terms |= requirements > kPodRequirementsMax;
  if (out.has_too_many_terms) return;
  const PodTermReader reader{pod, symbols, matchers, symbols.intern(api::namespace_of(pod))};
  read_required(reader, together[kRequired], true, out.affinity);
  read_required(reader, apart[kRequired], false, out.anti_affinity);
  read_preferred(reader, together[kPreferred], 1, out.preferred_pods);
  read_preferred(reader, apart[kPreferred], -1, out.preferred_pods);
  read_spread(reader, spec["topologySpreadConstraints"], out.spread);
}

}  // namespace scheduler
