// Annotations of StorageClasses and volumes.
#pragma once

#include <string_view>

#include "api/meta/resource.h"

namespace api {

// Either with "true" makes a class that of claims which name none; the second is the old one.
inline constexpr std::string_view kDefaultClassMarks[] = {"storageclass.kubernetes.io/is-default-class",
                                                          "storageclass.beta.kubernetes.io/is-default-class"};

// An annotation of a volume names the provisioner that made it. Folders of one machine are made by this one.
inline constexpr std::string_view kProvisionedBy = "pv.kubernetes.io/provisioned-by";
inline constexpr std::string_view kLocalProvisioner = "volcano.sh/local-path";

inline bool is_default_class(const Json& storage_class) {
  for (const std::string_view mark : kDefaultClassMarks)
    if (annotation_of(storage_class, mark) == "true") return true;
  return false;
}

}  // namespace api
