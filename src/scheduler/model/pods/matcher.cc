// A conjunction of pod selectors, and the pods that it chooses.
#include "scheduler/model/pods/matcher.h"

#include <algorithm>

namespace scheduler {
namespace {

void append(std::string& out, std::uint32_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }

void append(std::string& out, const LabelSelector& selector) {
  append(out, selector.present ? 1 : 0);
  for (const Requirement& r : selector.requirements) {
    append(out, r.key.index);
    append(out, static_cast<std::uint32_t>(r.op));
    append(out, static_cast<std::uint32_t>(r.number));
    append(out, static_cast<std::uint32_t>(r.values.size()));
    for (const Symbol value : r.values) append(out, value.index);
  }
  append(out, 0xffff'fffe);
}

bool is_selected(const PodSelector& selector, const LabelSet& set, const NamespaceLabels& namespaces,
                 const Symbols& symbols) {
  bool in_scope = std::binary_search(selector.namespaces.begin(), selector.namespaces.end(), set.ns);
  if (!in_scope && selector.namespace_selector.present) {
    static const Labels kNone;
    auto found = namespaces.find(set.ns.index);
    in_scope = selector.namespace_selector.matches(found == namespaces.end() ? kNone : found->second, symbols);
  }
  return in_scope && selector.labels.matches(set.labels, symbols);
}

}  // namespace

bool Matcher::selects(const LabelSet& set, const NamespaceLabels& namespaces, const Symbols& symbols) const {
  return std::all_of(all_of.begin(), all_of.end(),
                     [&](const PodSelector& one) { return is_selected(one, set, namespaces, symbols); });
}

bool Matcher::reads_namespaces() const {
  return std::any_of(all_of.begin(), all_of.end(), [](const PodSelector& s) { return s.namespace_selector.present; });
}

std::uint64_t Matcher::required_label() const {
  for (const PodSelector& selector : all_of) {
    for (const Requirement& r : selector.labels.requirements) {
      if (r.op == Requirement::Op::kIn && r.values.size() == 1) return LabelSets::label_key(r.key, r.values[0]);
    }
  }
  return 0;
}

std::string text_of(const std::vector<PodSelector>& all_of) {
  std::string text;
  for (const PodSelector& selector : all_of) {
    for (const Symbol ns : selector.namespaces) append(text, ns.index);
    append(text, 0xffff'fffd);
    append(text, selector.namespace_selector);
    append(text, selector.labels);
  }
  return text;
}

}  // namespace scheduler
