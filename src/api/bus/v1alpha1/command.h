// A Command is a one-shot order to a controller. All fields are top level; there is no status.
#pragma once

#include "api/meta/object.h"

namespace api {

struct Command {
  ObjectMeta metadata;
  std::string action;
  std::optional<OwnerReference> target;
  std::string reason;
  std::string message;

  static constexpr std::string_view kSchemaName = "sh.volcano.bus.v1alpha1.Command";
  static constexpr auto fields() {
    using C = Command;
    return rows(field<&C::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&C::action>("action", "What the target's controller is to do, such as AbortJob or CloseQueue."),
                field<&C::target>("target", {.atomic = true}, "The object acted on."),
                field<&C::reason>("reason", "Free text: why."), field<&C::message>("message", "Free text: details."));
  }
};

}  // namespace api
