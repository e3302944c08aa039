// A condition of an object's status, with the rules that Kubernetes has for them (metav1.Condition).
#pragma once

#include <cstdint>
#include <string>

#include "api/schema/fields.h"
#include "base/time.h"

namespace api {

struct Condition {
  std::string type;
  std::string status;
  std::int64_t observed_generation = 0;
  base::Time last_transition_time;
  std::string reason;
  std::string message;

  static constexpr std::string_view kTypePattern =
      "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/"
      ")?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";
  static constexpr std::string_view kReasonPattern = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";

  static constexpr std::string_view kSchemaName = "sh.volcano.meta.v1.Condition";
  static constexpr auto fields() {
    using C = Condition;
    return rows(
        field<&C::type>("type", {.required = true, .length_max = 316, .pattern = kTypePattern}, "What it is about."),
        field<&C::status>("status", {.required = true, .enumeration = "True|False|Unknown"}, "Whether it is so."),
        field<&C::observed_generation>("observedGeneration", {.minimum = 0}, "Of the object that was looked at."),
        field<&C::last_transition_time>("lastTransitionTime", {.required = true}, "When the status last changed."),
        field<&C::reason>("reason", {.required = true, .length_min = 1, .length_max = 1024, .pattern = kReasonPattern},
                          "One word on why."),
        field<&C::message>("message", {.required = true, .keep_empty = true, .length_max = 32768},
                           "The same for people."));
  }
};

}  // namespace api
