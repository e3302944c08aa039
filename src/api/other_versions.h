// Kinds that are another form of a stored one: events of events.k8s.io/v1, autoscalers of autoscaling/v1, older
// versions of notebooks and profiles, those of native gangs in the newest Kubernetes. Requests for them are requests
// for the stored kind, converted on the way in and on the way out.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/kinds.h"

namespace api {

// Immutable; any thread. Conversions also take parts of objects (applied configurations), and leave what is of a wrong
// type to the stored kind's validation.
struct OtherVersion {
  KindInfo kind;
  const KindInfo* stored = nullptr;  // a row of all_kinds()
  Json (*to_stored)(Json object) = nullptr;
  Json (*from_stored)(Json object) = nullptr;
  std::vector<std::pair<std::string_view, std::string_view>> selectable = {};  // field labels: here, and stored

  // A field selector of this form, as one of the stored kind.
  std::string stored_selector(std::string_view fields) const;
};

std::span<const OtherVersion> other_versions();
// Null where `kind` is none of them (by its address).
const OtherVersion* other_version(const KindInfo& kind);
const OtherVersion* find_other_version(std::string_view group, std::string_view version, std::string_view plural);

}  // namespace api
