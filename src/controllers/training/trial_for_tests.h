// A training job of one kind in a small world: looked at, admitted, and its pods set as a test says.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "api/kubeflow/v1/run_policy.h"
#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/training/framework.h"
#include "controllers/training/pods.h"

namespace controllers::training {

using api::Json;
namespace resources = api::resources;

inline constexpr std::string_view kKey = "ns/j";

inline Json parsed(std::string_view text) {
  auto json = api::parse_json(text);
  EXPECT_TRUE(json.ok()) << text;
  return json.ok() ? *json : Json();
}

struct Trial {
  explicit Trial(std::string_view kind, std::string_view replicas, std::string_view policy = "{}",
                 std::string_view spec = "{}", Options given = {})
      : framework(kind == "MPIJob/v2beta1" ? *find_framework("MPIJob", "v2beta1") : *find_framework(kind)),
        options(std::move(given)) {
    options.mpi_version = framework.resource.version;
    restart();
    world.use_indexes_of(*controller);
    Json map = Json::object();
    const Json types = parsed(replicas);
    for (const Json::Member& member : types.members()) {
      Json one = member.value;
      one.set("template", parsed(base::format(R"({{"spec": {{"containers": [{{"name": "{}", "image": "i"}}]}}}})",
                                              framework.container)));
      map.set(member.name(), one);
    }
    Json whole = parsed(spec);
    whole.set(framework.replica_map, map);
    whole.set("runPolicy", parsed(policy));
    world.put(framework.resource, Json::object({{"apiVersion", framework.resource.api_version()},
                                                {"kind", framework.kind},
                                                {"metadata", parsed(R"({"name": "j", "namespace": "ns"})")},
                                                {"spec", whole}}));
  }

  // A crash of the operator: it knows nothing of before.
  void restart() { controller = make_training_controller(framework.controller, options); }

  std::string look() { return world.turn(*controller, std::string(kKey)); }
  void rest() {
    for (int i = 0; i < 5; ++i) look();
  }
  void admit() {
    if (Json* group = world.edit(resources::kPodGroups, std::string(kKey)))
      group->edit("status").set("phase", "Inqueue");
  }
  void begin() {
    look();
    admit();
    rest();
  }
  void set(const std::string& pod, std::string_view phase, std::optional<int> code = {}) {
    Json* found = world.edit(resources::kPods, "ns/" + pod);
    ASSERT_NE(found, nullptr) << pod;
    found->edit("status").set("phase", phase);
    found->edit("spec").set("nodeName", "n");
    if (code)
      found->edit("status").set(
          "containerStatuses",
          parsed(base::format(R"([{{"name": "{}", "state": {{"terminated": {{"exitCode": {}}}}}}}])",
                              framework.container, *code)));
  }
  void set_all(std::string_view phase) {
    for (const std::string& name : pods()) set(name, phase);
  }
  std::vector<std::string> pods() const {
    std::vector<std::string> names;
    for (const Json* pod : world.all(resources::kPods)) names.emplace_back(api::name_of(*pod));
    return names;
  }
  Wake wake_of(const api::ResourceId& resource) const {
    for (Wake& one : controller->wakes_on())
      if (one.resource == resource) return one;
    ADD_FAILURE() << resource.plural << " wakes nobody";
    return {};
  }
  const Json& status() { return (*world.find(framework.resource, kKey))["status"]; }
  // "Created Running=False Succeeded"
  std::string conditions() {
    std::string text;
    for (const Json& one : status()["conditions"].items())
      text += base::format("{}{}{}", text.empty() ? "" : " ", one["type"].as_string(),
                           one["status"].as_string() == "True" ? "" : "=False");
    return text;
  }
  std::string reported() { return status()["conditions"][status()["conditions"].size() - 1]["message"].str(); }
  bool was_reported(std::string_view event) const {
    for (const std::string& one : world.events)
      if (one == event) return true;
    return false;
  }

  const Framework& framework;
  Options options;
  TestWorld world;
  std::unique_ptr<Controller> controller;
};

}  // namespace controllers::training
