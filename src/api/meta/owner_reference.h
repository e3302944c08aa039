// References from an object to its owners.
#pragma once

#include "api/schema/fields.h"

namespace api {

struct OwnerReference {
  static constexpr std::string_view kSchemaName = "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference";
  static constexpr auto fields() {
    return rows(field<Text>("apiVersion", {.required = true}, "API version of the referent."),
                field<Text>("kind", {.required = true}, "Kind of the referent."),
                field<Text>("name", {.required = true}, "Name of the referent."),
                field<Text>("uid", {.required = true}, "UID of the referent."),
                field<bool>("controller", "Whether this reference points to the managing controller."),
                field<bool>("blockOwnerDeletion", "Whether a foreground deletion of the owner waits for this object."));
  }
};

}  // namespace api
