// A Profile is a person's namespace: who owns it, what it may use, and who may do what in it (kubeflow.md 5.1).
#pragma once

#include "api/meta/object.h"
#include "api/resource.h"
#include "api/schema/fields.h"

namespace api {

namespace resources {
inline const ResourceId kProfiles{"kubeflow.org", "v1", "profiles"};
}  // namespace resources

struct ProfilePlugin {
  std::string api_version;
  std::string kind;
  Json spec;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.ProfilePlugin";
  static constexpr auto fields() {
    using P = ProfilePlugin;
    return rows(field<&P::api_version>("apiVersion", "API version of the plugin."),
                field<&P::kind>("kind", "Kind of the plugin."), field<&P::spec>("spec", "Settings of the plugin."));
  }
};

struct ProfileSpec {
  Json owner;
  std::vector<ProfilePlugin> plugins;
  Json quota;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.ProfileSpec";
  static constexpr auto fields() {
    using P = ProfileSpec;
    return rows(field<&P::owner>("owner", {.core_type = "rbac.v1.Subject"}, "The owner of the namespace."),
                // COMPAT(profile-plugins)
                field<&P::plugins>("plugins", "Identities of clouds; stored only."),
                field<&P::quota>("resourceQuotaSpec", {.core_type = "core.v1.ResourceQuotaSpec"},
                                 "What the namespace may use at most."));
  }
};

struct ProfileCondition {
  std::string type;
  std::string status;
  std::string message;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.ProfileCondition";
  static constexpr auto fields() {
    using C = ProfileCondition;
    return rows(field<&C::type>("type", "Successful, Failed or Unknown."),
                field<&C::status>("status", "True, False or Unknown."), field<&C::message>("message", "For a person."));
  }
};

struct ProfileStatus {
  std::vector<ProfileCondition> conditions;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.ProfileStatus";
  static constexpr auto fields() {
    return rows(field<&ProfileStatus::conditions>("conditions", "What went wrong, or that all is well."));
  }
};

struct Profile {
  ObjectMeta metadata;
  ProfileSpec spec;
  ProfileStatus status;

  static constexpr std::string_view kSchemaName = "org.kubeflow.v1.Profile";
  static constexpr auto fields() {
    using P = Profile;
    return rows(field<&P::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&P::spec>("spec", "The owner and the limits."), field<&P::status>("status", "How it goes."));
  }
};

}  // namespace api
