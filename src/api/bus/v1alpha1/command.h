// A Command is a one-shot order to a controller. All fields are top level; there is no status.
#pragma once

#include "api/meta/owner_reference.h"

namespace api {

struct Command {
  static constexpr std::string_view kSchemaName = "sh.volcano.bus.v1alpha1.Command";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<Text>("action", "What the target's controller is to do, such as AbortJob or CloseQueue."),
                field<OwnerReference>("target", {.atomic = true}, "The object acted on."),
                field<Text>("reason", "Free text: why."), field<Text>("message", "Free text: details."));
  }
};

}  // namespace api
