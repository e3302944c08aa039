// Answers and events of a server that does not keep to shapes.
#include "client/http/answer_check.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace client {
namespace {

using api::Json;

const api::KindInfo* jobs() { return api::find_kind(api::resources::kJobs); }

Json parsed(std::string_view text) { return *api::parse_json(text); }

TEST(Shapes, says_what_is_wrong_with_an_object_by_field) {
  const struct {
    std::string_view object, problem;
  } rows[] = {
      {R"(5)", "must be a map"},
      {R"(null)", "must be a map"},
      {R"({"metadata":[]})", "metadata: must be a map"},
      {R"({"metadata":{"namespace":"a"}})", "metadata.name: must be a name"},
      {R"({"metadata":{"name":"a"},"status":"x"})", "status: must be a map"},
      {R"({"metadata":{"name":"a","annotations":[]}})", "metadata.annotations: must be a map"},
      {R"({"metadata":{"name":"a"},"spec":{"tasks":[{"template":{"spec":{"containers":5}}}]}})",
       "spec.tasks[0].template.spec.containers: must be"},
      {R"({"metadata":{"name":"a"},"spec":{"tasks":[{"replicas":"many"}]}})",
       "spec.tasks[0].replicas: \"many\" is not an integer"},
      {R"({"metadata":{"name":"a","creationTimestamp":null},"spec":null,"more":{"x":1}})", ""},
  };
  for (const auto& row : rows) {
    const std::string found = find_fault(parsed(row.object), jobs()).value_or("");
    EXPECT_TRUE(row.problem.empty() ? found.empty() : found.starts_with(row.problem)) << row.object << ": " << found;
  }
}

TEST(Shapes, kinds_of_kubernetes_have_maps_where_they_are_taken_for_granted) {
  const api::KindInfo* pods = api::find_kind(api::ResourceId{"", "v1", "pods"});
  for (const char* text : {R"({"metadata":{"name":"a"},"status":"x"})", R"({"metadata":{"name":"a"},"spec":[]})",
                           R"({"metadata":{"name":"a","labels":1}})"})
    EXPECT_TRUE(find_fault(parsed(text), pods)) << text;
  EXPECT_FALSE(find_fault(parsed(R"({"metadata":{"name":"a","labels":{}},"spec":{},"status":null})"), pods));
}

TEST(Shapes, items_that_cannot_be_used_are_left_out_of_a_list) {
  std::vector<std::string> left_out;
  const auto list = usable_answer(parsed(R"({"kind":"JobList","items":[{"metadata":{"name":"a","namespace":"n"}},5,
      {"metadata":{"name":"b","namespace":"n"},"spec":[]},{"metadata":{"name":"c","namespace":"n"}}]})"),
                                  Verb::kList, jobs(), left_out);
  ASSERT_TRUE(list.ok());
  ASSERT_EQ((*list)["items"].size(), 2u);
  EXPECT_EQ(api::name_of((*list)["items"][1]), "c");
  ASSERT_EQ(left_out.size(), 2u);
  EXPECT_TRUE(left_out[1].starts_with("jobs.batch.volcano.sh n/b is left out: spec: must be")) << left_out[1];
}

TEST(Shapes, an_answer_that_is_no_list_is_not_taken_for_an_empty_one) {
  std::vector<std::string> left_out;
  for (const char* text :
       {"{}", "5", "null", "[]", R"({"kind":"JobList","items":"none"})", R"({"kind":"Job","metadata":{}})"})
    EXPECT_FALSE(usable_answer(parsed(text), Verb::kList, jobs(), left_out).ok()) << text;
  for (const char* text : {R"({"kind":"JobList","items":null})", R"({"items":[]})", R"({"kind":"JobList"})"})
    EXPECT_TRUE(usable_answer(parsed(text), Verb::kList, jobs(), left_out).ok()) << text;
}

TEST(Shapes, answers_to_other_requests_are_objects_or_a_status) {
  std::vector<std::string> left_out;
  const auto is_fine = [&](const char* text, Verb verb) {
    return usable_answer(parsed(text), verb, jobs(), left_out).ok();
  };
  EXPECT_FALSE(is_fine("[]", Verb::kUpdate));
  EXPECT_FALSE(is_fine(R"({"metadata":"x"})", Verb::kCreate));
  EXPECT_FALSE(is_fine(R"({"metadata":{"name":"a"},"status":5})", Verb::kGet));
  EXPECT_TRUE(is_fine(R"({"kind":"Status","status":"Success"})", Verb::kDelete));
  EXPECT_TRUE(is_fine(R"({"kind":"SelfSubjectReview","metadata":{"creationTimestamp":null}})", Verb::kCreate));
  EXPECT_FALSE(is_fine(R"({"kind":"Status","status":"Failure","message":"no"})", Verb::kGet));
}

TEST(Shapes, a_watch_goes_on_behind_an_object_that_cannot_be_used) {
  WatchEvent event{EventType::kModified, parsed(R"({"metadata":{"name":"a","resourceVersion":"7"},"status":5})")};
  EXPECT_TRUE(mend_event(event, jobs()));
  EXPECT_EQ(event.type, EventType::kBookmark);
  EXPECT_EQ(api::resource_version_of(event.object), "7");
  event = {EventType::kAdded, Json()};
  EXPECT_TRUE(mend_event(event, nullptr));
  EXPECT_EQ(event.type, EventType::kBookmark);
  event = {EventType::kDeleted, parsed(R"({"metadata":{"name":"a"},"status":5})")};
  EXPECT_FALSE(mend_event(event, jobs()));
  EXPECT_EQ(event.type, EventType::kDeleted);
}

}  // namespace
}  // namespace client
