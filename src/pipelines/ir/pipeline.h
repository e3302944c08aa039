// The model of a compiled pipeline: graphs of tasks, the components that they run, and the executors of those.
//
// read_pipeline() checks whatever a document may say before anything runs: each reference leads somewhere, types fit,
// graphs have no cycles, and conditions can be read. Errors name the place in the document.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/cel/expression.h"
#include "api/json/json.h"
#include "base/result.h"
#include "base/time.h"

namespace pipelines {

inline constexpr std::size_t kTasksMax = 10'000;    // of a document
inline constexpr std::size_t kGraphDepthMax = 32;   // of graphs in graphs
inline constexpr std::size_t kNameBytesMax = 256;   // of tasks, components, inputs and outputs
inline constexpr std::int64_t kRetriesMax = 1'000;  // that a policy may ask for
inline constexpr std::size_t kDocumentBytesMax = std::size_t{3} << 20;

enum class ParameterType : std::uint8_t {
  kDouble,
  kInteger,
  kString,
  kBoolean,
  kList,
  kStruct,
  kFinalStatus,
  kTaskConfig
};
std::string_view type_name(ParameterType type);

struct ParameterSpec {
  ParameterType type = ParameterType::kString;
  std::optional<api::Json> default_value = {};
  bool is_optional = false;
  std::vector<api::Json> literals = {};  // the values that it may have; empty: all

  bool is_required() const { return !is_optional && !default_value; }
};

struct ArtifactSpec {
  api::Json type = {};  // schemaTitle, schemaVersion and so on
  bool is_list = false;
  bool is_optional = false;
  api::Json metadata = {};  // of an output
};

// The producer of a value inside a graph.
struct Selector {
  std::string task;
  std::string key;
};

// The place that an input's value comes from.
struct Source {
  enum class Kind : std::uint8_t { kConstant, kInputOfGraph, kOutputOfTask, kFinalStatus };

  Kind kind = Kind::kConstant;
  api::Json constant = {};
  std::string input = {};               // of the graph
  Selector output = {};                 // of a task; of a final status: the task alone
  std::vector<api::Json> members = {};  // names and numbers that lead into the value
};
using Sources = std::map<std::string, Source>;

struct Iterator {
  bool is_of_artifacts = false;
  std::optional<api::Json> raw = {};  // a list
  std::string input = {};             // of the task: a list
  std::string item_input = {};        // of the component: one item
  std::int64_t limit = 0;             // of the turns at a time; 0: none
};

struct RetryPolicy {
  std::int64_t count_max = 0;
  base::Duration pause = {};
  double factor = 2;
  base::Duration pause_max = base::hours(1);
};

struct Task {
  std::string name;
  std::string display_name = {};
  std::string component = {};
  std::vector<std::string> depends = {};  // tasks of the same graph, also those whose outputs it takes
  Sources parameters = {};
  Sources artifacts = {};
  std::optional<api::cel::Expression> condition = {};
  bool runs_in_any_case = false;  // however the tasks end that it depends on
  std::optional<Iterator> iterator = {};
  bool may_be_cached = false;
  std::string cache_key = {};
  RetryPolicy retry = {};
};

// An output of a graph: of the first of the selected tasks that has it; of artifacts, of all of them.
struct GraphOutput {
  std::vector<Selector> selectors;
  bool is_one_of = false;
};

struct Graph {
  std::vector<Task> tasks;  // each after those that it depends on
  std::map<std::string, GraphOutput> parameters = {};
  std::map<std::string, GraphOutput> artifacts = {};

  const Task* find(std::string_view name) const;
};

// A part of the pod that the component hands on to the work that it makes (TaskConfig).
enum class PodPart : std::uint8_t { kResources, kEnv, kAffinity, kTolerations, kNodeSelector, kVolumes };
struct Passthrough {
  PodPart part;
  bool applies_to_task = false;  // to the step's own pod, too
};

struct Component {
  std::string name;
  std::map<std::string, ParameterSpec> input_parameters = {};
  std::map<std::string, ArtifactSpec> input_artifacts = {};
  std::map<std::string, ParameterSpec> output_parameters = {};
  std::map<std::string, ArtifactSpec> output_artifacts = {};
  std::optional<Graph> graph = {};
  std::string executor = {};  // where there is no graph
  std::vector<Passthrough> passthroughs = {};
};

struct Executor {
  enum class Kind : std::uint8_t { kContainer, kImporter, kMakesClaim, kDeletesClaim };

  Kind kind = Kind::kContainer;
  api::Json container = {};  // image, command, args, env, resources
  api::Json importer = {};
  api::Json platform = {};  // its part of the platform's document
};

struct Pipeline {
  std::string name;
  std::string default_root = {};
  Component root = {};
  std::map<std::string, Component, std::less<>> components = {};
  std::map<std::string, Executor, std::less<>> executors = {};
  api::Json settings = {};  // pipelineConfig of the platform's document

  const Component& component_of(const Task& task) const { return components.find(task.component)->second; }
  const Executor& executor_of(const Component& component) const { return executors.find(component.executor)->second; }
};

// `spec`: the first document; `platform`: the second, or null.
base::Result<Pipeline> read_pipeline(const api::Json& spec, const api::Json& platform);

}  // namespace pipelines
