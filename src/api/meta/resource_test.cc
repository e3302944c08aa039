// The paths of resources.
#include "api/meta/resource.h"

#include <gtest/gtest.h>

namespace api {
namespace {

TEST(ResourcePath, ordinary_names_stand_as_they_are) {
  EXPECT_EQ(resource_path(resources::kPods, "ns", "web-0", "status"), "/api/v1/namespaces/ns/pods/web-0/status");
  EXPECT_EQ(resource_path(resources::kQueues, "", "default", ""), "/apis/scheduling.volcano.sh/v1beta1/queues/default");
  EXPECT_EQ(resource_path(resources::kServices, "ns", "http:web:80", "proxy/a/b"),
            "/api/v1/namespaces/ns/services/http:web:80/proxy/a/b");
  EXPECT_EQ(resource_path({"rbac.authorization.k8s.io", "v1", "clusterroles"}, "", "system:node", ""),
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node");
}

// Names of references are whatever their author wrote: none may end the request line or lead to another resource.
TEST(ResourcePath, a_name_is_one_segment_whatever_it_holds) {
  EXPECT_EQ(resource_path(resources::kPods, "n/s", "x HTTP/1.1\r\nHost: h\r\n\r\nDELETE /api/v1/nodes?a#b", ""),
            "/api/v1/namespaces/n%2Fs/pods/"
            "x%20HTTP%2F1.1%0D%0AHost:%20h%0D%0A%0D%0ADELETE%20%2Fapi%2Fv1%2Fnodes%3Fa%23b");
}

}  // namespace
}  // namespace api
