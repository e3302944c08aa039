// A CustomResourceDefinition: what is right in one, and the kinds that it makes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "apiserver/custom/custom_kind.h"
#include "base/result.h"
#include "base/time.h"

namespace apiserver {

inline constexpr const char* kDefinitionFinalizer = "customresourcecleanup.apiextensions.k8s.io";

bool is_definition(const api::KindInfo& kind);

// The names of a kind by which clients find it.
struct KindNames {
  std::string plural, singular, kind, list_kind;
  std::vector<std::string> short_names = {}, categories = {};

  static KindNames read(const api::Json& names);
};

// One definition as it is stored, read. Immutable; any thread.
struct Definition {
  std::string name;
  std::string group;
  KindNames accepted;
  bool established = false;
  bool conflicts = false;  // a name it wants is another's
  bool deleting = false;
  bool is_own = false;  // the program has the kind built in, and that is what is served
  std::int64_t revision = 0;
  api::Json spec;
  // The served versions, the most wanted first; none while it is not established.
  std::vector<std::shared_ptr<const CustomKind>> kinds;
  // The version in which objects are stored, served or not; null with `kinds`.
  std::shared_ptr<const CustomKind> stored_kind;
};
using DefinitionPtr = std::shared_ptr<const Definition>;

// Reads a stored definition. Parts of it that make no sense (another program stored them) are left out. `revision` is
// of the store; `known`: the same definition before, null: there was none.
DefinitionPtr read_definition(const api::Json& object, std::int64_t revision, const Definition* known);

// Whether clients want the one version rather than the other: "v2", "v1", "v2beta1", "v1alpha1", "other".
bool comes_before(const std::string& version, const std::string& other);

// Fills what may be left out.
void fill_definition(api::Json& object);
// Says what a Kubernetes server would refuse of a new (`before` is null) or a changed definition.
void check_definition(const api::Json& object, const api::Json& before, std::vector<base::Cause>& causes);
// The status that follows from the definition and from those beside it.
void set_definition_status(api::Json& object, const std::vector<DefinitionPtr>& all, base::Time now);
// The marks of a deletion: what is of the kind goes first. Empty for a kind that is built in.
void begin_definition_deletion(api::Json& object, base::Time now);

}  // namespace apiserver
