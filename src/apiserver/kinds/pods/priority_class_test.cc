// Which PriorityClass may be the default beside which, and what follows from one.
#include <gtest/gtest.h>

#include "api/json/yaml.h"
#include "apiserver/kinds/pods/pod_priority.h"
#include "apiserver/kinds/pods/priority_class_hook.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;

// A cluster with one class that is the default, or with none.
class Defaults : public api::ObjectReader {
 public:
  explicit Defaults(std::string name) : name_(std::move(name)) {}
  std::optional<Json> find(const api::ResourceId&, std::string_view, std::string_view) const override { return {}; }
  std::vector<Json> list_by(const api::TextField& field, std::string_view value, bool) const override {
    EXPECT_EQ(field.path, std::vector<std::string>{"globalDefault"});
    EXPECT_EQ(value, "true");
    if (name_.empty()) return {};
    return {*api::parse_yaml(base::format("{{metadata: {{name: {}}}, globalDefault: true}}", name_))};
  }

 private:
  std::string name_;
};

TEST(PriorityClasses, have_one_default) {
  struct Row {
    const char *present, *object, *refusal;
  };
  const Row rows[] = {
      {"", "{metadata: {name: a}, globalDefault: true}", ""},
      {"b", "{metadata: {name: a}}", ""},
      {"b", "{metadata: {name: a}, globalDefault: false}", ""},
      {"b", "{metadata: {name: a}, globalDefault: true}",
       "PriorityClass b is already marked as default. Only one default can exist"},
      {"a", "{metadata: {name: a}, globalDefault: true}", ""},
  };
  for (const Row& row : rows) {
    api::AdmissionRequest request;
    request.object = *api::parse_yaml(row.object);
    const api::AdmissionAnswer answer = priority_class_hook().review(request, Defaults(row.present));
    EXPECT_EQ(answer.allowed, *row.refusal == 0) << row.object;
    EXPECT_EQ(answer.message, row.refusal) << row.object;
  }
}

// One class, "urgent", which is the default or not.
class OneClass : public api::ObjectReader {
 public:
  explicit OneClass(bool is_default) : is_default_(is_default) {}
  std::optional<Json> find(const api::ResourceId&, std::string_view, std::string_view name) const override {
    return name == "urgent" ? std::optional(urgent()) : std::nullopt;
  }
  std::vector<Json> list_by(const api::TextField&, std::string_view, bool) const override {
    return is_default_ ? std::vector<Json>{urgent()} : std::vector<Json>();
  }

 private:
  static Json urgent() { return *api::parse_yaml("{metadata: {name: urgent}, value: 1000, preemptionPolicy: Never}"); }
  bool is_default_;
};

TEST(PriorityClasses, give_groups_of_kubernetes_their_priority) {
  struct Row {
    bool is_default;
    const char *spec, *outcome;
  };
  const Row rows[] = {
      {false, "{}", R"({"priority":0,"preemptionPolicy":"PreemptLowerPriority"})"},
      {true, "{}", R"({"priorityClassName":"urgent","priority":1000,"preemptionPolicy":"Never"})"},
      {false, "{priorityClassName: urgent, priority: 1000}",
       R"({"priorityClassName":"urgent","priority":1000,"preemptionPolicy":"Never"})"},
      {false, "{priorityClassName: other}",
       "podgroups.scheduling.k8s.io \"g\" is forbidden: no PriorityClass with name other was found"},
      {false, "{priority: 7}",
       "podgroups.scheduling.k8s.io \"g\" is forbidden: priority set in the pod group (7) must match the priority "
       "computed (0) based on the priority class set in the spec"},
      {false, "{priorityClassName: urgent, preemptionPolicy: PreemptLowerPriority}",
       "podgroups.scheduling.k8s.io \"g\" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) "
       "must not be provided in pod group spec; priority admission controller computed Never from the given "
       "PriorityClass name"},
      {false, "{priority: many}", R"({"priority":"many"})"},
  };
  for (const Row& row : rows) {
    Json group = *api::parse_yaml(base::format("{{metadata: {{name: g}}, spec: {}}}", row.spec));
    const base::Status done = set_group_priority(OneClass(row.is_default), group);
    EXPECT_EQ(done.ok() ? group["spec"].dump() : done.error().message, row.outcome) << row.spec;
  }
}

}  // namespace
}  // namespace apiserver
