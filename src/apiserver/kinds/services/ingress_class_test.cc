// Which class an Ingress gets that names none, and what is said of one that is not there.
#include <gtest/gtest.h>

#include "apiserver/kinds/services/ingress_class_hook.h"

namespace apiserver {
namespace {

using api::Json;

struct OneClass : api::ObjectReader {
  Json known = *api::parse_json(
      R"({"metadata":{"name":"volcano","annotations":{"ingressclass.kubernetes.io/is-default-class":"true"}}})");

  std::optional<Json> find(const api::ResourceId&, std::string_view, std::string_view name) const override {
    return name == "volcano" ? std::optional(known) : std::nullopt;
  }
  std::vector<Json> list_by(const api::TextField& field, std::string_view value, bool) const override {
    if (known["metadata"]["annotations"][field.path.back()].as_string() != value) return {};
    return {known};
  }
  api::AdmissionAnswer answer_to(std::string_view ingress) const {
    api::AdmissionRequest request;
    request.object = *api::parse_json(ingress);
    return ingress_class_hook().review(request, *this);
  }
};

TEST(IngressClasses, are_given_to_those_that_name_none) {
  const OneClass classes;
  const auto answer = classes.answer_to(R"({"spec":{}})");
  ASSERT_TRUE(answer.object);
  EXPECT_EQ((*answer.object)["spec"]["ingressClassName"].as_string(), "volcano");
  EXPECT_TRUE(answer.warnings.empty());
}

TEST(IngressClasses, that_are_not_there_are_warned_of) {
  const OneClass classes;
  EXPECT_TRUE(classes.answer_to(R"({"spec":{"ingressClassName":"volcano"}})").warnings.empty());
  const auto answer = classes.answer_to(R"({"spec":{"ingressClassName":"nginx"}})");
  EXPECT_FALSE(answer.object);
  EXPECT_EQ(answer.warnings, std::vector<std::string>{
                                 "spec.ingressClassName: there is no IngressClass \"nginx\", so that nobody serves the "
                                 "Ingress; `kubectl get ingressclass` lists those that are there"});
}

}  // namespace
}  // namespace apiserver
