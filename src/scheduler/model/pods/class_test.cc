// Which fields of a pod split classes? Every field of the API's pod spec is set in turn: the class changes exactly
// where a filter or a score reads the field.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "api/schema/schema.h"
#include "scheduler/cache/intake_fields.h"
#include "scheduler/model/pods/shape.h"

namespace scheduler {
namespace {

using api::Json;
using api::Schema;

// Paths that filters or scores read; what stands below them is read as a whole.
constexpr std::string_view kRead[] = {
    "affinity",
    "containers[].image",
    "containers[].ports[].hostPort",
    "containers[].resources",
    "initContainers",
    "nodeSelector",
    "overhead",
    "resourceClaims",
    "resources",
    "tolerations",
    "topologySpreadConstraints",
    "volumes[].ephemeral",
    "volumes[].image",
    "volumes[].persistentVolumeClaim",
};

bool is_read(const std::string& path) {
  return std::any_of(std::begin(kRead), std::end(kRead), [&](std::string_view read) {
    if (!path.starts_with(read)) return false;
    const char next = path.size() == read.size() ? '.' : path[read.size()];
    return next == '.' || next == '[' || next == '{';
  });
}

class Mutator {
 public:
  explicit Mutator(Json pod) : pod_(std::move(pod)) { shape_key(pod_, key_); }

  void run() {
    visit(
        api::core_schema("core.v1.PodSpec"), pod_["spec"], "", [](Json value) { return value; }, 0);
  }
  int fields() const { return fields_; }

 private:
  using Wrap = std::function<Json(Json)>;

  void visit(const Schema& schema, const Json& there, const std::string& path, const Wrap& wrap, int depth) {
    if (depth > 12) return;
    switch (schema.kind) {
      case Schema::Kind::kObject:
        for (const api::SchemaField& field : schema.fields) {
          visit(
              *field.schema, there[field.name], path.empty() ? field.name : path + "." + field.name,
              [&, name = field.name](Json value) {
                Json object = there.is_object() ? there : Json::object();
                object.set(name, std::move(value));
                return wrap(std::move(object));
              },
              depth + 1);
        }
        return;
      case Schema::Kind::kList:
        visit(
            *schema.element, there[std::size_t{0}], path + "[]",
            [&](Json value) { return wrap(Json::array({std::move(value)})); }, depth + 1);
        return;
      case Schema::Kind::kMap:
        visit(
            *schema.element, Json(), path + "{}",
            [&](Json value) {
              return wrap(Json::object({{"k", std::move(value)}}));
            },
            depth + 1);
        return;
      case Schema::Kind::kBoolean: return check(path, wrap(true));
      case Schema::Kind::kInteger:
      case Schema::Kind::kNumber: return check(path, wrap(7));
      case Schema::Kind::kQuantity: return check(path, wrap("7"));
      case Schema::Kind::kString:
      case Schema::Kind::kIntOrString: return check(path, wrap("x"));
      case Schema::Kind::kAny: return check(path, wrap(Json::object({{"x", 1}})));
    }
  }

  void check(const std::string& path, Json spec) {
    ++fields_;
    Json pod = pod_;
    pod.set("spec", std::move(spec));
    std::string key;
    shape_key(pod, key);
    EXPECT_EQ(key != key_, is_read(path)) << "spec." << path;
    std::string projected;
    shape_key(*parse_json(pod.dump(), fields_read(api::resources::kPods)), projected);
    EXPECT_EQ(projected, key) << "spec." << path << " is read, and cache/intake_fields.cc leaves it out";
  }

  Json pod_;
  std::string key_;
  int fields_ = 0;
};

TEST(Class, splits_on_every_field_that_is_read_and_on_no_other) {
  Mutator mutator(*api::parse_json(
      R"({"metadata":{"name":"a","namespace":"n","uid":"1"},"spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"i"}]}})"));
  mutator.run();
  EXPECT_GT(mutator.fields(), 500);
}

TEST(Class, splits_on_annotations_and_labels_that_choose_devices) {
  const Json pod = *api::parse_json(
      R"({"metadata":{"name":"a","namespace":"n","annotations":{},"labels":{}},"spec":{"containers":[{"name":"c"}]}})");
  std::string key, other;
  shape_key(pod, key);
  const auto set = [&](const char* map, const char* name) {
    Json changed = pod;
    changed.edit("metadata").edit(map).set(name, "x");
    shape_key(changed, other);
    return key != other;
  };
  for (const char* name : {"volcano.sh/numa-topology-policy", "volcano.sh/vgpu-mode", "volcano.sh/vgpu-use-gpuuuid",
                           "volcano.sh/vgpu-nouse-gpuuuid", "volcano.sh/vgpu-podgroup-policy", "nvidia.com/use-gputype",
                           "nvidia.com/nouse-gputype", "huawei.com/vnpu-mode"}) {
    EXPECT_TRUE(set("annotations", name)) << name;
  }
  EXPECT_TRUE(set("labels", "ring-controller.atlas"));
  EXPECT_FALSE(set("annotations", "volcano.sh/vgpu-ids-new"));
  EXPECT_FALSE(set("annotations", "example.com/other"));
  EXPECT_FALSE(set("labels", "app"));
}

TEST(Class, follows_the_claims_that_templates_made) {
  Json pod = *api::parse_json(
      R"({"metadata":{"name":"a","namespace":"n"},"spec":{"containers":[],"resourceClaims":[{"name":"c","resourceClaimTemplateName":"t"}]}})");
  std::string key, other;
  shape_key(pod, key);
  pod.edit("status").set("resourceClaimStatuses",
                         Json::array({Json::object({{"name", "c"}, {"resourceClaimName", "a-c"}})}));
  shape_key(pod, other);
  EXPECT_NE(key, other);
}

}  // namespace
}  // namespace scheduler
