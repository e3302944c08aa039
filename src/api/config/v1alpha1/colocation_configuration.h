// A ColocationConfiguration says how the memory of selected pods is treated on nodes that online and offline work
// share.
#pragma once

#include "api/meta/condition.h"
#include "api/meta/owner_reference.h"

namespace api {

struct MemoryQos {
  static constexpr std::string_view kSchemaName = "sh.volcano.config.v1alpha1.MemoryQos";
  static constexpr auto fields() {
    return rows(field<std::int64_t>("highRatio", {.default_json = "100", .minimum = 0, .maximum = 100},
                                    "Percent of the limit from which memory is reclaimed."),
                field<std::int64_t>("lowRatio", {.default_json = "0", .minimum = 0, .maximum = 100},
                                    "Percent of the request that is protected as long as possible."),
                field<std::int64_t>("minRatio", {.default_json = "0", .minimum = 0, .maximum = 100},
                                    "Percent of the request that is always protected."));
  }
};

struct ColocationConfigurationSpec {
  static constexpr std::string_view kSchemaName = "sh.volcano.config.v1alpha1.ColocationConfigurationSpec";
  static constexpr auto fields() {
    return rows(field<Json>("selector", {.core_type = "meta.v1.LabelSelector"},
                            "The pods it is for. Absent: none; empty: all of the namespace."),
                field<MemoryQos>("memoryQos", "How their memory is treated."));
  }
};

struct ColocationConfigurationStatus {
  static constexpr std::string_view kSchemaName = "sh.volcano.config.v1alpha1.ColocationConfigurationStatus";
  static constexpr auto fields() {
    return rows(field<List<Condition>>("conditions", {.list_map_key = "type"}, "Standard conditions."));
  }
};

struct ColocationConfiguration {
  static constexpr std::string_view kSchemaName = "sh.volcano.config.v1alpha1.ColocationConfiguration";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<ColocationConfigurationSpec>("spec", {.required = true}, "Which pods, and how."),
                field<ColocationConfigurationStatus>("status", "Never written yet."));
  }
};

}  // namespace api
