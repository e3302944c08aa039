// Which fields a kind can be selected by, and matching.
#include "apiserver/pipeline/read/selection.h"

#include <algorithm>

#include "apiserver/custom/custom_kind.h"
#include "apiserver/kinds/kind_rules.h"
#include "base/format.h"

namespace apiserver {

using base::Result;

namespace {

// A watch asks all of them of every event.
constexpr std::size_t kTermsMax = 1000;

std::size_t terms_of(const api::LabelSelector& labels) {
  std::size_t terms = labels.requirements.size();
  for (const api::Requirement& one : labels.requirements) terms += one.values.size();
  return terms;
}

base::Status check_terms(std::string_view parameter, std::size_t terms) {
  if (terms <= kTermsMax) return {};
  return bad_request(base::format("{} has {} terms and values, where {} may be", parameter, terms, kTermsMax));
}

}  // namespace

Result<Selection> Selection::parse(const api::KindInfo& kind, const std::string& labels, const std::string& fields) {
  Selection selection;
  TRY(selection.labels_, api::parse_label_selector(labels));
  TRY(selection.fields_, api::parse_field_selector(fields));
  TRY_VOID(check_terms("labelSelector", terms_of(selection.labels_)));
  TRY_VOID(check_terms("fieldSelector", selection.fields_.size()));
  selection.none_is_zero_ = !kind.custom && (kind.kind == "Job" || kind.kind == "ReplicationController");
  for (api::FieldTerm& term : selection.fields_) {
    if (term.path == "metadata.name" || (term.path == "metadata.namespace" && kind.namespaced)) continue;
    selection.by_metadata_only_ = false;
    const auto selectable = rules_of(kind).selectable;
    bool known = std::ranges::find(selectable, term.path) != selectable.end();
    if (const CustomKind* custom = custom_kind(kind))
      known = std::ranges::find(custom->selectable, term.path) != custom->selectable.end();
    if (!known) return bad_request(base::format("field label not supported: {}", term.path));
    if (term.path == "source") term.path = "source.component";
    if (term.path == "status.successful") term.path = "status.succeeded";
    // An absent boolean is false.
    if ((term.path == "spec.unschedulable" || term.path == "spec.hostNetwork") && term.value == "false") {
      term.value = "true";
      term.equal = !term.equal;
    }
  }
  if (!selection.labels_.requirements.empty()) selection.by_metadata_only_ = false;
  return selection;
}

const api::Json& DecodedObjects::of(const store::ObjectPtr& object) {
  const auto [at, is_new] = objects_.try_emplace(object);
  if (is_new) at->second = object->json();
  return at->second;
}

std::optional<bool> Selection::matches_by_names(const store::Object& object) const {
  if (everything()) return true;
  if (!by_metadata_only_) return {};
  return std::ranges::all_of(fields_, [&](const api::FieldTerm& term) {
    return ((term.path == "metadata.name" ? object.name : object.ns) == term.value) == term.equal;
  });
}

bool Selection::matches(const api::Json& object) const {
  if (!labels_.matches(object["metadata"]["labels"])) return false;
  return std::ranges::all_of(fields_, [&](const api::FieldTerm& term) {
    std::string text = api::field_text(object, term.path);
    if (text.empty() && none_is_zero_ && term.path.starts_with("status.")) text = "0";
    return (text == term.value) == term.equal;
  });
}

bool Selection::matches(const store::Object& object) const {
  const auto by_names = matches_by_names(object);
  return by_names ? *by_names : matches(object.json());
}

bool Selection::matches(const store::ObjectPtr& object, DecodedObjects& decoded) const {
  const auto by_names = matches_by_names(*object);
  return by_names ? *by_names : matches(decoded.of(object));
}

}  // namespace apiserver
