// Which Workflows are refused, and by which field.
#include "pipelines/argo/workflow_check.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"
#include "pipelines/argo/expressions.h"
#include "pipelines/argo/text_template.h"

namespace pipelines::argo {
namespace {

std::string first_problem(std::string_view spec) {
  api::FieldErrors errors;
  const auto parsed = api::parse_yaml(spec);
  if (!parsed.ok()) return parsed.error().message;
  check_workflow(*parsed, errors);
  const auto texts = errors.take_texts();
  return texts.empty() ? "" : texts.front();
}

constexpr std::string_view kRest = "\ntemplates: [{name: a, container: {image: x}}, ";

TEST(WorkflowCheck, names_the_field) {
  const struct {
    std::string spec, problem;
  } rows[] = {
      {"entrypoint: a" + std::string(kRest) + "]", ""},
      {"entrypoint: b" + std::string(kRest) + "]", "spec.entrypoint: Not found: \"b\": no template has this name"},
      {"templates: []", "spec.entrypoint: Required value"},
      {"entrypoint: a\nhooks: {}" + std::string(kRest) + "]",
       "spec.hooks: Forbidden: this field of Workflows is not supported here; spec.onExit names a template for the end "
       "of the whole"},
      {"entrypoint: a" + std::string(kRest) + "{name: b, http: {url: u}}]",
       "spec.templates[1].http: Forbidden: this field of Workflows is not supported here; a container or a script does "
       "it"},
      {"entrypoint: a" + std::string(kRest) + "{name: b, resources: {}, container: {image: x}}]",
       "spec.templates[1].resources: Forbidden: Workflows have no such field here"},
      {"entrypoint: a" + std::string(kRest) + "{name: b, timeout: soon, container: {image: x}}]",
       "spec.templates[1].timeout: Invalid value: \"soon\": is not a length of time, such as 90s or 1h30m"},
      {"entrypoint: a" + std::string(kRest) + "{name: b, timeout: 1s, suspend: {}}]",
       "spec.templates[1].timeout: Forbidden: a container or a script may have it"},
      {"entrypoint: a" + std::string(kRest) + "{name: b, timeout: 90s, annotations: {a: b}, container: {image: x}}]",
       ""},
      {"entrypoint: a\npodGC: {strategy: OnPodSuccess, deleteDelayDuration: 30s}" + std::string(kRest) + "]", ""},
      {"entrypoint: a\npodGC: {strategy: Never}" + std::string(kRest) + "]",
       "spec.podGC.strategy: Unsupported value: \"Never\": supported values: \"OnPodCompletion\", \"OnPodSuccess\", "
       "\"OnWorkflowCompletion\", \"OnWorkflowSuccess\""},
      {"entrypoint: a" + std::string(kRest) +
           "{name: b, steps: [[{name: s, template: a, withSequence: {count: 2, format: '%s'}}]]}]",
       "spec.templates[1].steps[0][0].withSequence.format: Invalid value: \"%s\": is not one number in a text, such as "
       "%d, step-%03d or 0x%02X"},
      {"entrypoint: a" + std::string(kRest) + "{name: a, container: {image: x}}]",
       "spec.templates[1].name: Duplicate value: \"a\""},
      {"entrypoint: a" + std::string(kRest) + "{name: b}]",
       "spec.templates[1]: Invalid value: \"b\": must have one of container, script, resource, dag, steps, suspend"},
      {"entrypoint: a" + std::string(kRest) + "{name: b, dag: {tasks: [{name: t, template: c}]}}]",
       "spec.templates[1].dag.tasks[0].template: Not found: \"c\": no template has this name"},
      {"entrypoint: a" + std::string(kRest) + "{name: b, dag: {tasks: [{name: t, template: a, dependencies: [u]}]}}]",
       "spec.templates[1].dag.tasks[0].dependencies: Not found: \"u\": no task has this name"},
      {"entrypoint: a" + std::string(kRest) +
           "{name: b, dag: {tasks: [{name: t, template: a, depends: u}, {name: u, template: a, depends: t}]}}]",
       "spec.templates[1].dag.tasks: Invalid value: \"t\": waits for itself, along tasks that wait for each other"},
      {"entrypoint: a" + std::string(kRest) + "{name: b, dag: {tasks: [{name: t, template: a, depends: 't &'}]}}]",
       "spec.templates[1].dag.tasks[0].depends: Invalid value: \"t &\": \"&\" is not an operator that is supported "
       "here"},
      {"entrypoint: a" + std::string(kRest) + "{name: b, container: {image: '{{=1+1}}'}}]",
       "spec.templates[1].container.image: Invalid value: \"{{=1+1}}\": {{=1+1}} is an expression, which is not "
       "supported here; a script can compute it"},
      {"entrypoint: a" + std::string(kRest) + "{name: b, container: {image: '{{item'}}]",
       "spec.templates[1].container.image: Invalid value: \"{{item\": \"{{item\" has a {{ without }}"},
      {"entrypoint: a" + std::string(kRest) + "{name: b, steps: {}}]",
       "spec.templates[1].steps: Invalid value: {}: must be a list"},
      {"entrypoint: a" + std::string(kRest) + "{name: b, container: {image: '{{inputs.parameters.x}}'}}]",
       "spec.templates[1].container.image: Invalid value: \"{{inputs.parameters.x}}\": the template has no input "
       "parameter \"x\""},
      {"entrypoint: a" + std::string(kRest) + "{name: b, container: {image: x, args: ['{{workflow.parameters.x}}']}}]",
       "spec.templates[1].container.args[0]: Invalid value: \"{{workflow.parameters.x}}\": the Workflow has no "
       "parameter \"x\""},
      {"entrypoint: a" + std::string(kRest) +
           "{name: b, steps: [[{name: t, template: a, when: '{{steps.u.outputs.result}} == 1'}]]}]",
       "spec.templates[1].steps[0][0].when: Invalid value: \"{{steps.u.outputs.result}}\": the template has no step "
       "\"u\""},
      {"entrypoint: a\narguments: {parameters: [{name: x, value: '1'}]}" + std::string(kRest) +
           "{name: b, inputs: {artifacts: [{name: f, path: /f}]}, container: {image: x, args: "
           "['{{inputs.artifacts.f.path}} "
           "{{workflow.parameters.x}} {{workflow.parameters.json}} {{pod.name}}']}}]",
       ""},
      {"entrypoint: a\nshutdown: Now" + std::string(kRest) + "]",
       "spec.shutdown: Unsupported value: \"Now\": supported values: \"Stop\", \"Terminate\""},
  };
  for (const auto& row : rows) EXPECT_EQ(first_problem(row.spec), row.problem) << row.spec;
}

TEST(WorkflowCheck, expressions) {
  const struct {
    std::string_view text;
    int value;  // -1: an error
  } rows[] = {{"1 == 1", 1},
              {"1 == 1.0", 1},
              {"'1' == '1.0'", 0},
              {"10 > 9", 1},
              {"'10' > '9'", 0},
              {"heads == heads", 1},
              {"\"heads\" != 'tails' && !(1 > 2)", 1},
              {"1 > 2 || 3 > 2", 1},
              {"a in ('b', 'a')", 1},
              {"a in ('b')", 0},
              {"true", 1},
              {"maybe", -1},
              {"1 ==", -1},
              {"(1 == 1", -1},
              {"1 == 1)", -1},
              {"'a", -1},
              {"", -1},
              {"1 =~ 2", 0},
              {"heads =~ '^hea'", 1},
              {"heads !~ hea", 0},
              {"heads =~ '('", -1},
              {"1 + 1", -1}};
  for (const auto& row : rows) {
    const auto value = holds(row.text);
    EXPECT_EQ(value.ok() ? (*value ? 1 : 0) : -1, row.value) << row.text;
  }
  EXPECT_FALSE(holds(std::string(1000, '!') + "true").ok());
  EXPECT_FALSE(holds(std::string(1000, '(') + "true").ok());
}

TEST(WorkflowCheck, values_are_filled_in_once) {
  Variables variables;
  variables.set("item", "{{retries}}");
  variables.set("retries", "2");
  EXPECT_EQ(*fill("x{{ item }}{{retries}}", variables), "x{{retries}}2");
  EXPECT_EQ(fill("{{item.c}}", variables).error().message, "{{item.c}} has no value");
  EXPECT_EQ(fill("{{input.parameters.c}}", variables).error().message, "{{input.parameters.c}} has no value");
  // Braces of a script, a chart or a page stay as they are.
  for (const char* text :
       {"{{range .items}}{{.metadata.name}}{{end}}", "{{ user.name }}", "f'{{\"a\": {x}}}'", "{{", "{{{{", "{{}}"})
    EXPECT_EQ(*fill(text, variables), text);
  EXPECT_EQ(*fill("{{{retries}}} {{x {{retries}}", variables), "{2} {{x 2");
}

}  // namespace
}  // namespace pipelines::argo
