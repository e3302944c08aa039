// The world does what an API server and a node would do.
#include "controllers/pipelines/trial_for_tests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "api/json/yaml.h"
#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "controllers/pipelines/run.h"

namespace controllers::pipelines {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr const char* kKey = "ns/r";

}  // namespace

std::vector<Json> compiled(const std::string& document) {
  std::ifstream file("tests/pipelines/compiled/" + document + ".yaml");
  std::stringstream text;
  text << file.rdbuf();
  const auto read = api::parse_yaml_documents(text.str());
  EXPECT_TRUE(read.ok() && !read->empty()) << document;
  std::vector<Json> out;
  if (read.ok())
    for (const api::YamlDocument& one : *read) out.push_back(one.value);
  out.resize(2);
  return out;
}

std::string report_of(const std::vector<std::string>& parameters, const std::string& metadata) {
  std::string text = "kfp 1\n";
  for (std::size_t i = 0; i < parameters.size(); ++i)
    text += base::format("P {} {}\n{}\n", i, parameters[i].size(), parameters[i]);
  if (!metadata.empty()) text += base::format("M {}\n{}\n", metadata.size(), metadata);
  return text;
}

Trial::Trial() {
  restart();
  world.use_indexes_of(*controller);
}

void Trial::restart() { controller = make_run_controller({}); }

void Trial::run(const std::string& document, std::string_view parameters, std::string_view more) {
  const std::vector<Json> both = compiled(document);
  run_document(both[0], both[1], parameters, more);
}

void Trial::run_document(const Json& spec, const Json& platform, std::string_view parameters, std::string_view more,
                         std::string_view name) {
  Json& run = world.put_text(
      resources::kPipelineRuns,
      base::format(R"({{"kind": "PipelineRun", "metadata": {{"name": "{}", "namespace": "ns", "uid": "U-{}"{}}},
                        "spec": {{"runtimeConfig": {{"parameters": {}}}}}}})",
                   name, name, more, parameters));
  run.edit("spec").set("pipelineSpec", spec);
  if (!platform.is_null()) run.edit("spec").set("platformSpec", platform);
  settle();
}

void Trial::settle() {
  for (int round = 0; round < 200; ++round) {
    bool quiet = true;
    for (const Json* run : world.all(resources::kPipelineRuns)) {
      const std::string key = api::key_of(*run);
      const Plan plan = controller->step(world, key, {.now = world.now});
      const bool asks = plan.text().find("fetch ") != std::string::npos;
      controller->finished(key, world.apply(plan));
      quiet = quiet && writes_nothing(plan) && !asks;
    }
    if (quiet) return;
  }
  FAIL() << "never at rest";
}

const Json* Trial::pod(const std::string& path) {
  const std::string name = task(path)["status"]["podName"].str();
  return name.empty() ? nullptr : world.find(resources::kPods, "ns/" + name);
}

void Trial::end_pod(const std::string& path, const std::string& outcome) {
  const std::string key = "ns/" + task(path)["status"]["podName"].str();
  Json* made = world.edit(resources::kPods, key);
  ASSERT_NE(made, nullptr) << path;
  const bool fails = outcome.starts_with('!');
  Json terminated = Json::object({{"exitCode", fails ? std::stoi(outcome.substr(1)) : 0},
                                  {"reason", fails ? "Error" : "Completed"},
                                  {"finishedAt", base::format_rfc3339(world.now)}});
  if (!fails) terminated.set("message", outcome);
  Json container = Json::object({{"name", "main"}, {"state", Json::object({{"terminated", std::move(terminated)}})}});
  made->set("status", Json::object({{"phase", fails ? "Failed" : "Succeeded"},
                                    {"containerStatuses", Json::array({std::move(container)})}}));
}

void Trial::play(const Outcome& outcome) {
  for (int round = 0; round < 100; ++round) {
    settle();
    std::vector<std::string> running;
    for (const Json* one : world.all(resources::kPipelineTasks)) {
      const std::string path = (*one)["spec"]["path"].str();
      const Json* made = pod(path);
      if (made != nullptr && !(*made)["status"]["phase"].as_string().starts_with("Suc") &&
          (*made)["status"]["phase"].as_string() != "Failed")
        running.push_back(path);
    }
    std::ranges::sort(running);
    bool ended = false;
    for (const std::string& path : running) {
      const std::string end = outcome(path);
      if (end.empty()) continue;
      started.push_back(path);
      end_pod(path, end);
      ended = true;
    }
    world.now = world.now + base::seconds(100);
    settle();
    if (!ended && running.empty()) return;
    if (!ended) return;
  }
  FAIL() << "the run goes on and on";
}

std::string Trial::state(std::string_view name) {
  const Json* run = world.find(resources::kPipelineRuns, base::format("ns/{}", name));
  return run == nullptr ? "" : (*run)["status"]["state"].str();
}

std::string Trial::error() {
  const Json* run = world.find(resources::kPipelineRuns, kKey);
  return run == nullptr ? "" : (*run)["status"]["error"].str();
}

const Json& Trial::task(const std::string& path) {
  static const Json none;
  for (const Json* one : world.all(resources::kPipelineTasks))
    if ((*one)["spec"]["path"].as_string() == path && (*one)["spec"]["runName"].as_string() == "r") return *one;
  return none;
}

std::vector<std::string> Trial::states() {
  std::vector<std::string> out;
  for (const Json* one : world.all(resources::kPipelineTasks))
    out.push_back(base::format("{}={}", (*one)["spec"]["path"].as_string(), (*one)["status"]["state"].as_string()));
  std::ranges::sort(out);
  return out;
}

std::vector<std::string> Trial::command(const std::string& path) {
  std::vector<std::string> words;
  const Json* made = pod(path);
  if (made == nullptr) return words;
  bool behind = false;
  for (const Json& one : (*made)["spec"]["containers"][std::size_t{0}]["args"].items()) {
    if (behind) words.push_back(one.str());
    behind = behind || one.as_string() == "--";
  }
  return words;
}

}  // namespace controllers::pipelines
