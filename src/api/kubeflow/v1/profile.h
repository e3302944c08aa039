// A Profile is a person's namespace: who owns it, what it may use, and who may do what in it (kubeflow.md 5.1).
#pragma once

#include "api/meta/resource.h"
#include "api/schema/fields.h"

namespace api {

namespace resources {
inline const ResourceId kProfiles{"kubeflow.org", "v1", "profiles"};
}  // namespace resources

struct ProfilePlugin {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.ProfilePlugin";
  static constexpr auto fields() {
    return rows(field<Text>("apiVersion", "API version of the plugin."), field<Text>("kind", "Kind of the plugin."),
                field<Json>("spec", "Settings of the plugin."));
  }
};

struct ProfileSpec {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.ProfileSpec";
  static constexpr auto fields() {
    return rows(field<Json>("owner", {.core_type = "rbac.v1.Subject"}, "The owner of the namespace."),
                // COMPAT(profile-plugins)
                field<List<ProfilePlugin>>("plugins", "Identities of clouds; stored only."),
                field<Json>("resourceQuotaSpec", {.core_type = "core.v1.ResourceQuotaSpec"},
                            "What the namespace may use at most."));
  }
};

struct ProfileCondition {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.ProfileCondition";
  static constexpr auto fields() {
    return rows(field<Text>("type", "Successful, Failed or Unknown."), field<Text>("status", "True, False or Unknown."),
                field<Text>("message", "For a person."));
  }
};

struct ProfileStatus {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.ProfileStatus";
  static constexpr auto fields() {
    return rows(field<List<ProfileCondition>>("conditions", "What went wrong, or that all is well."));
  }
};

struct Profile {
  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.Profile";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<ProfileSpec>("spec", "The owner and the limits."),
                field<ProfileStatus>("status", "How it goes."));
  }
};

}  // namespace api
