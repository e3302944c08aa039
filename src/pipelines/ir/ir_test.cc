// Documents that the SDK compiled, what is read of them, and what is said of documents that were changed by hand.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "api/json/yaml.h"
#include "pipelines/ir/pipeline.h"
#include "pipelines/ir/values.h"

namespace pipelines {
namespace {

using api::Json;

std::vector<Json> documents(const std::string& name) {
  std::ifstream file("tests/pipelines/compiled/" + name + ".yaml");
  std::stringstream text;
  text << file.rdbuf();
  const auto read = api::parse_yaml_documents(text.str());
  EXPECT_TRUE(read.ok() && !read->empty()) << name;
  std::vector<Json> out;
  if (read.ok())
    for (const api::YamlDocument& one : *read) out.push_back(one.value);
  out.resize(2);
  return out;
}

Json parse(std::string_view text) {
  auto parsed = api::parse_json(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Json();
}

std::string error_of(const Json& spec) {
  const auto read = read_pipeline(spec, {});
  return read.ok() ? "" : read.error().message;
}

TEST(Ir, ReadsWhatTheSdkCompiles) {
  for (const char* name : {"hello", "branches", "loops", "exits", "claims", "artifacts", "platform"}) {
    const std::vector<Json> both = documents(name);
    const auto read = read_pipeline(both[0], both[1]);
    EXPECT_TRUE(read.ok()) << name << ": " << (read.ok() ? "" : read.error().message);
  }
}

TEST(Ir, TasksStandInTheirOrderWithTheirInputs) {
  const auto read = read_pipeline(documents("hello")[0], {});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->name, "hello-world");
  const Graph& graph = *read->root.graph;
  ASSERT_EQ(graph.tasks.size(), 2U);
  EXPECT_EQ(graph.tasks[0].name, "greet");
  EXPECT_TRUE(graph.tasks[0].may_be_cached);
  EXPECT_EQ(graph.tasks[0].parameters.at("name").input, "name");
  EXPECT_EQ(graph.tasks[1].depends, std::vector<std::string>{"greet"});
  EXPECT_EQ(graph.tasks[1].parameters.at("text").output.key, "text");
  EXPECT_EQ(read->root.input_parameters.at("name").default_value, Json("world"));
}

TEST(Ir, ReadsLoopsConditionsRetriesAndPlatforms) {
  const auto loops = read_pipeline(documents("loops")[0], {});
  ASSERT_TRUE(loops.ok());
  const Task* loop = loops->root.graph->find("for-loop-1");
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->iterator->limit, 2);
  EXPECT_EQ(loop->iterator->input, "pipelinechannel--items");
  const Task* pairs = loops->component_of(*loop).graph->find("for-loop-3");
  ASSERT_NE(pairs, nullptr);
  EXPECT_EQ(pairs->iterator->raw->size(), 2U);
  const Task* member = loops->component_of(*pairs).graph->find("add-2");
  ASSERT_NE(member, nullptr);
  EXPECT_EQ(Json::array(member->parameters.at("a").members), parse(R"(["a"])"));

  const auto exits = read_pipeline(documents("exits")[0], {});
  ASSERT_TRUE(exits.ok());
  EXPECT_TRUE(exits->root.graph->find("finish")->runs_in_any_case);
  const Task* failing = exits->components.find("comp-exit-handler-1")->second.graph->find("fail");
  ASSERT_NE(failing, nullptr);
  EXPECT_EQ(failing->retry.count_max, 2);
  EXPECT_EQ(failing->retry.pause, base::seconds(1));

  const auto both = documents("claims");
  const auto claims = read_pipeline(both[0], both[1]);
  ASSERT_TRUE(claims.ok());
  EXPECT_EQ(claims->executors.find("exec-createpvc")->second.kind, Executor::Kind::kMakesClaim);
  EXPECT_EQ(claims->executors.find("exec-greet")->second.platform["pvcMount"][std::size_t{0}]["mountPath"].as_string(),
            "/data");
}

struct Change {
  std::initializer_list<std::string_view> place;
  const char* value;  // JSON; null: the member goes
  const char* error;
};

TEST(Ir, ErrorsNameTheTaskAndTheField) {
  const Json good = documents("hello")[0];
  const Change changes[] = {
      {{"schemaVersion"},
       R"("1.0")",
       R"(schemaVersion: "1.0" is not a version of compiled pipelines that is known here: 2.1.0)"},
      {{"pipelineInfo", "name"}, "null", "pipelineInfo.name: a name is required"},
      {{"root", "dag", "tasks", "say", "componentRef", "name"},
       R"("comp-x")",
       R"(root.dag.tasks.say.componentRef: there is no component "comp-x")"},
      {{"root", "dag", "tasks", "say", "dependentTasks"},
       R"(["other"])",
       R"(root.dag.tasks.say.dependentTasks: there is no task "other" in this graph)"},
      {{"root", "dag", "tasks", "greet", "dependentTasks"},
       R"(["say"])",
       "root.dag.tasks: these tasks wait for each other: greet, say"},
      {{"root", "dag", "tasks", "greet", "dependentTasks"},
       R"(["greet"])",
       "root.dag.tasks.greet: the task waits for itself"},
      {{"root", "dag", "tasks", "say", "inputs", "parameters", "text", "taskOutputParameter", "outputParameterKey"},
       R"("size")",
       R"(root.dag.tasks.say.inputs.parameters.text: the task greet has no output parameter "size")"},
      {{"root", "dag", "tasks", "greet", "inputs", "parameters"},
       "{}",
       "root.dag.tasks.greet.inputs.parameters.name: a value is required"},
      {{"root", "dag", "tasks", "greet", "inputs", "parameters", "name"},
       R"({"componentInputParameter": "nobody"})",
       R"(root.dag.tasks.greet.inputs.parameters.name: the graph has no parameter "nobody")"},
      {{"root", "dag", "tasks", "greet", "inputs", "parameters", "x"},
       R"({"runtimeValue": {"constant": 1}})",
       "root.dag.tasks.greet.inputs.parameters.x: the component comp-greet has no such parameter"},
      {{"components", "comp-greet", "inputDefinitions", "parameters", "name", "parameterType"},
       R"("NUMBER_INTEGER")",
       "root.dag.tasks.greet.inputs.parameters.name: a STRING is given where a NUMBER_INTEGER is expected"},
      {{"components", "comp-greet", "inputDefinitions", "parameters", "name", "parameterType"},
       R"("TEXT")",
       R"(components.comp-greet.inputDefinitions.parameters.name.parameterType: "TEXT" is not a type of parameters)"},
      {{"components", "comp-greet", "executorLabel"},
       R"("exec-x")",
       R"(components.comp-greet.executorLabel: there is no executor "exec-x")"},
      {{"deploymentSpec", "executors", "exec-greet", "container", "command"},
       "[]",
       "deploymentSpec.executors.exec-greet.container.command: a container with outputs needs a command, which is "
       "run by what takes them: write the image's own entrypoint there"},
      {{"deploymentSpec", "executors", "exec-greet", "container", "args"},
       "[1]",
       "deploymentSpec.executors.exec-greet.container.args: 1 is not a text"},
      {{"root", "dag", "tasks", "say", "triggerPolicy"},
       R"({"condition": "inputs.("})",
       "root.dag.tasks.say.triggerPolicy.condition: "},
      {{"root", "dag", "tasks", "say", "parameterIterator"},
       R"({"itemInput": "text", "items": {"inputParameter": "many"}})",
       R"(root.dag.tasks.say.parameterIterator.items: the task has no input "many")"},
      {{"root", "dag", "tasks", "say", "retryPolicy"},
       R"({"maxRetryCount": -1})",
       "root.dag.tasks.say.retryPolicy.maxRetryCount: it is not between 0 and 1000"},
      {{"components", "comp-say", "dag"},
       R"({"tasks": {"again": {"componentRef": {"name": "comp-say"},
         "inputs": {"parameters": {"text": {"componentInputParameter": "text"}}}}}})",
       "root.dag.tasks.say.tasks.again: the component comp-say contains itself"},
      {{"root", "dag", "tasks"}, "[]", "root.dag.tasks: [] is not an object"},
  };
  for (const Change& change : changes) {
    Json bad = good;
    bad.edit_path(change.place) = parse(change.value);
    const std::string error = error_of(bad);
    EXPECT_TRUE(!error.empty() && error.starts_with(change.error)) << error << "\nexpected: " << change.error;
  }
  EXPECT_EQ(error_of(Json("x")), "the document: it is not an object");
}

TEST(Ir, ATaskMayHandOnAnImageThatIsKnownLate) {
  Json document = documents("hello")[0];
  document.edit_path({"root", "dag", "tasks", "greet", "inputs", "parameters", "base_image"}) =
      parse(R"({"runtimeValue": {"constant": "{{$.inputs.parameters['pipelinechannel--image']}}"}})");
  EXPECT_TRUE(read_pipeline(document, {}).ok()) << error_of(document);
}

TEST(Values, BecomeWhatTheTypeSays) {
  const auto become = [](const char* value, ParameterType type) {
    const auto made = fit(parse(value), type);
    return made.ok() ? made->dump() : made.error().message;
  };
  EXPECT_EQ(become("3.0", ParameterType::kInteger), "3");
  EXPECT_EQ(become("3.5", ParameterType::kInteger), "3.5 is not a NUMBER_INTEGER");
  EXPECT_EQ(become(R"("[1]")", ParameterType::kList), "[1]");
  EXPECT_EQ(become(R"("x")", ParameterType::kList), R"("x" is not a LIST)");
  EXPECT_EQ(become("{}", ParameterType::kString), R"("{}")");
  EXPECT_EQ(become("1", ParameterType::kBoolean), "1 is not a BOOLEAN");
  EXPECT_EQ(fit_text("True\n", ParameterType::kBoolean)->dump(), "true");
  EXPECT_EQ(fit_text("12\n", ParameterType::kInteger)->dump(), "12");
  EXPECT_EQ(fit_text("12\n", ParameterType::kString)->dump(), R"("12\n")");
  EXPECT_FALSE(fit_text("twelve", ParameterType::kInteger).ok());
}

TEST(Values, SelectorsLeadIntoStructsAndLists) {
  const auto read = read_selector(R"(parseJson(string_value)["a]b"][1])");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(Json::array(*read), parse(R"(["a]b", 1])"));
  EXPECT_EQ(select_members(parse(R"({"a]b": [1, {"c": 2}]})"), *read)->dump(), R"({"c":2})");
  EXPECT_EQ(select_members(parse(R"("{\"a]b\": [1, 2]}")"), *read)->dump(), "2");
  EXPECT_FALSE(select_members(parse(R"({"a]b": [1]})"), *read).ok());
  for (const char* wrong : {"x", "parseJson(string_value).a", "parseJson(string_value)[", "parseJson(string_value)[x]"})
    EXPECT_FALSE(read_selector(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace pipelines
