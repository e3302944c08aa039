// A ColocationConfiguration says how the memory of selected pods is treated on nodes that online and offline work
// share.
#pragma once

#include "api/meta/condition.h"
#include "api/meta/object.h"

namespace api {

struct MemoryQos {
  std::int64_t high_ratio = 0;
  std::int64_t low_ratio = 0;
  std::int64_t min_ratio = 0;

  static constexpr std::string_view kSchemaName = "sh.volcano.config.v1alpha1.MemoryQos";
  static constexpr auto fields() {
    using M = MemoryQos;
    return rows(
        field<&M::high_ratio>("highRatio", {.default_json = "100", .keep_empty = true, .minimum = 0, .maximum = 100},
                              "Percent of the limit from which memory is reclaimed."),
        field<&M::low_ratio>("lowRatio", {.default_json = "0", .minimum = 0, .maximum = 100},
                             "Percent of the request that is protected as long as possible."),
        field<&M::min_ratio>("minRatio", {.default_json = "0", .minimum = 0, .maximum = 100},
                             "Percent of the request that is always protected."));
  }
};

struct ColocationConfigurationSpec {
  Json selector;
  std::optional<MemoryQos> memory_qos;

  static constexpr std::string_view kSchemaName = "sh.volcano.config.v1alpha1.ColocationConfigurationSpec";
  static constexpr auto fields() {
    using C = ColocationConfigurationSpec;
    return rows(field<&C::selector>("selector", {.core_type = "meta.v1.LabelSelector"},
                                    "The pods it is for. Absent: none; empty: all of the namespace."),
                field<&C::memory_qos>("memoryQos", "How their memory is treated."));
  }
};

struct ColocationConfigurationStatus {
  std::vector<Condition> conditions;

  static constexpr std::string_view kSchemaName = "sh.volcano.config.v1alpha1.ColocationConfigurationStatus";
  static constexpr auto fields() {
    using C = ColocationConfigurationStatus;
    return rows(field<&C::conditions>("conditions", {.list_map_key = "type"}, "Standard conditions."));
  }
};

struct ColocationConfiguration {
  ObjectMeta metadata;
  ColocationConfigurationSpec spec;
  ColocationConfigurationStatus status;

  static constexpr std::string_view kSchemaName = "sh.volcano.config.v1alpha1.ColocationConfiguration";
  static constexpr auto fields() {
    using C = ColocationConfiguration;
    return rows(field<&C::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&C::spec>("spec", {.required = true, .keep_empty = true}, "Which pods, and how."),
                field<&C::status>("status", "Never written yet."));
  }
};

}  // namespace api
