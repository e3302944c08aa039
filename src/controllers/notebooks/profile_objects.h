// The objects of a profile as values, and the ClusterRoles that they refer to.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "controllers/notebooks/options.h"

namespace controllers::notebooks {

inline const api::ResourceId kRoleBindings{"rbac.authorization.k8s.io", "v1", "rolebindings"};
inline const api::ResourceId kClusterRoles{"rbac.authorization.k8s.io", "v1", "clusterroles"};
inline constexpr const char* kQuota = "kf-resource-quota";

api::Json profile_namespace(const api::Json& profile, const Options& options);
std::vector<api::Json> profile_accounts(const api::Json& profile);
std::vector<api::Json> profile_bindings(const api::Json& profile);
// Null where the profile has no limits.
api::Json profile_quota(const api::Json& profile);
api::Json profile_policy(const api::ResourceId& resource, const api::Json& profile, const Options& options);
// The roles that bindings of profiles name; they gather the rules of others by labels.
std::vector<api::Json> profile_roles();

}  // namespace controllers::notebooks
