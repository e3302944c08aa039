// The texts of Kubernetes' types speak of what there is, and leave nothing out of what people ask about.
#include "apiserver/documents/core_texts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "api/schema/schema.h"

namespace apiserver {
namespace {

// Null where there is no such type.
const api::Schema* type_of(std::string_view short_name) {
  for (const api::Schema* schema : api::all_core_schemas())
    if (schema->name.ends_with("." + std::string(short_name))) return schema;
  return nullptr;
}

TEST(CoreTexts, SpeakOfTypesAndFieldsThatThereAre) {
  EXPECT_GT(core_texts().size(), 500u);
  for (const auto& [key, text] : core_texts()) {
    const auto& [type, field] = key;
    if (field == "&") {
      EXPECT_NE(type_of(text), nullptr) << type << " takes from " << text;
      continue;
    }
    EXPECT_TRUE(text.ends_with('.') || (field.empty() && type == "*")) << type << " " << field << ": " << text;
    if (type.starts_with('*')) continue;
    const api::Schema* schema = type_of(type);
    ASSERT_NE(schema, nullptr) << type;
    EXPECT_TRUE(field.empty() || schema->field(field) != nullptr) << type << " has no " << field;
  }
}

TEST(CoreTexts, EveryFieldOfThePodsAndWorkloadsIsExplained) {
  for (const char* type :
       {"meta.v1.ObjectMeta", "core.v1.PodSpec", "core.v1.Container", "core.v1.EphemeralContainer", "core.v1.Probe",
        "core.v1.SecurityContext", "core.v1.PodSecurityContext", "core.v1.ServiceSpec", "apps.v1.DeploymentSpec",
        "apps.v1.StatefulSetSpec", "apps.v1.DaemonSetSpec", "batch.v1.JobSpec", "batch.v1.CronJobSpec",
        "autoscaling.v2.HorizontalPodAutoscalerSpec", "apps.v1.DeploymentCondition"}) {
    const api::Schema* schema = type_of(type);
    ASSERT_NE(schema, nullptr) << type;
    for (const api::SchemaField& field : schema->fields) {
      const bool of_every_kind = field.name == "apiVersion" || field.name == "kind";
      EXPECT_EQ(core_text(type, field.name).empty(), of_every_kind) << type << " " << field.name;
    }
  }
}

TEST(CoreTexts, AFieldIsSoughtInItsTypeThenWhereItTakesFromThenInWhatAllShare) {
  EXPECT_EQ(core_text("core.v1.Pod", "spec"), "What runs, and what it needs.");
  EXPECT_EQ(core_text("core.v1.Service", "spec"), "What is wanted.");
  EXPECT_EQ(core_text("core.v1.EphemeralContainer", "image"), core_text("core.v1.Container", "image"));
  EXPECT_EQ(core_text("core.v1.EphemeralContainer", ""), "A container added to a running pod, to look into it.");
  EXPECT_EQ(core_text("core.v1.PodCondition", "type"), "What is stated.");
  EXPECT_EQ(core_text("core.v1.Pod", "wheels"), "");
}

}  // namespace
}  // namespace apiserver
