// The shared parts of every typed kind: apiVersion, kind, metadata; and ObjectMeta as far as our code thinks with it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/schema/fields.h"

namespace api {

using StringMap = std::map<std::string, std::string, std::less<>>;

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  std::optional<bool> controller;
  std::optional<bool> block_owner_deletion;

  static constexpr std::string_view kSchemaName = "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference";
  static constexpr auto fields() {
    using O = OwnerReference;
    return rows(field<&O::api_version>("apiVersion", {.required = true}, "API version of the referent."),
                field<&O::kind>("kind", {.required = true}, "Kind of the referent."),
                field<&O::name>("name", {.required = true}, "Name of the referent."),
                field<&O::uid>("uid", {.required = true}, "UID of the referent."),
                field<&O::controller>("controller", "Whether this reference points to the managing controller."),
                field<&O::block_owner_deletion>("blockOwnerDeletion",
                                                "Whether a foreground deletion of the owner waits for this object."));
  }
};

// The members our code reads and writes; the full ObjectMeta is Kubernetes' own table.
struct ObjectMeta {
  std::string name;
  std::string generate_name;
  std::string ns;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  base::Time creation_timestamp;
  base::Time deletion_timestamp;
  StringMap labels;
  StringMap annotations;
  std::vector<OwnerReference> owner_references;
  std::vector<std::string> finalizers;

  static constexpr std::string_view kSchemaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
  static constexpr auto fields() {
    using M = ObjectMeta;
    return rows(field<&M::name>("name", "Unique within a namespace."),
                field<&M::generate_name>("generateName", "Prefix of a generated name."),
                field<&M::ns>("namespace", "The space the name is unique in."),
                field<&M::uid>("uid", "Unique in time and space."),
                field<&M::resource_version>("resourceVersion", "Opaque revision, for preconditions."),
                field<&M::generation>("generation", "Counts changes of the desired state."),
                field<&M::creation_timestamp>("creationTimestamp", "When the server stored it first."),
                field<&M::deletion_timestamp>("deletionTimestamp", "When it is to be gone."),
                field<&M::labels>("labels", "Keys and values to select by."),
                field<&M::annotations>("annotations", "Keys and values to keep."),
                field<&M::owner_references>("ownerReferences", "Objects this one depends on."),
                field<&M::finalizers>("finalizers", "Who must agree before it goes."));
  }
};

}  // namespace api
