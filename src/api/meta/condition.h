// A condition of an object's status, with the rules that Kubernetes has for them (metav1.Condition).
#pragma once

#include <cstdint>

#include "api/schema/fields.h"
#include "base/time.h"

namespace api {

struct Condition {
  static constexpr std::string_view kTypePattern =
      "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/"
      ")?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";
  static constexpr std::string_view kReasonPattern = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";

  static constexpr std::string_view kSchemaName = "sh.volcano.meta.v1.Condition";
  static constexpr auto fields() {
    return rows(
        field<Text>("type", {.required = true, .length_max = 316, .pattern = kTypePattern}, "What it is about."),
        field<Text>("status", {.required = true, .enumeration = "True|False|Unknown"}, "Whether it is so."),
        field<std::int64_t>("observedGeneration", {.minimum = 0}, "Of the object that was looked at."),
        field<base::Time>("lastTransitionTime", {.required = true}, "When the status last changed."),
        field<Text>("reason", {.required = true, .length_min = 1, .length_max = 1024, .pattern = kReasonPattern},
                    "One word on why."),
        field<Text>("message", {.required = true, .length_max = 32768}, "The same for people."));
  }
};

}  // namespace api
