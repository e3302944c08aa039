// Which PriorityClass may be the default beside which.
#include <gtest/gtest.h>

#include "api/json/yaml.h"
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

}  // namespace
}  // namespace apiserver
