// Which class a claim gets that names none.
#include <gtest/gtest.h>

#include "apiserver/kinds/storage/storage_class_hook.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;

struct Classes : api::ObjectReader {
  std::vector<Json> known;

  std::optional<Json> find(const api::ResourceId&, std::string_view, std::string_view name) const override {
    for (const Json& one : known)
      if (api::name_of(one) == name) return one;
    return {};
  }
  std::vector<Json> list_by(const api::TextField& field, std::string_view value, bool) const override {
    std::vector<Json> found;
    for (const Json& one : known)
      if (field.resource.plural == "storageclasses" &&
          one["metadata"]["annotations"][field.path.back()].as_string() == value)
        found.push_back(one);
    return found;
  }
  void add(const std::string& name, const std::string& made, const std::string& is_default) {
    known.push_back(*api::parse_json(base::format(
        R"({{"metadata":{{"name":"{}","creationTimestamp":"{}","annotations":{{"storageclass.kubernetes.io/is-default-class":"{}"}}}}}})",
        name, made, is_default)));
  }
  // The class that the claim has in the end.
  std::string given(std::string_view claim) const {
    api::AdmissionRequest request;
    request.object = *api::parse_json(claim);
    const api::AdmissionAnswer answer = storage_class_hook().review(request, *this);
    return (answer.object ? *answer.object : request.object)["spec"]["storageClassName"].dump();
  }
};

TEST(StorageClasses, are_given_to_claims_that_name_none) {
  Classes classes;
  EXPECT_EQ(classes.given(R"({"spec":{}})"), "null") << "there is no default";
  classes.add("old", "2026-01-01T00:00:00Z", "true");
  classes.add("no", "2026-03-01T00:00:00Z", "false");
  EXPECT_EQ(classes.given(R"({"spec":{}})"), R"("old")");
  classes.add("b", "2026-02-01T00:00:00Z", "true");
  classes.add("a", "2026-02-01T00:00:00Z", "true");
  EXPECT_EQ(classes.given(R"({"spec":{"storageClassName":null}})"), R"("a")") << "the newest, then by name";
  EXPECT_EQ(classes.given(R"({"spec":{"storageClassName":""}})"), R"("")") << "which means none";
  EXPECT_EQ(classes.given(R"({"spec":{"storageClassName":"mine"}})"), R"("mine")");
  EXPECT_EQ(classes.given(R"({"spec":"x"})"), "null") << "what is not a claim is for others to name";
  EXPECT_EQ(classes.given(R"({"metadata":{"annotations":{"volume.beta.kubernetes.io/storage-class":"c"}},"spec":{}})"),
            "null");
}

TEST(StorageClasses, say_whether_their_claims_may_grow) {
  Classes classes;
  classes.known.push_back(*api::parse_json(R"({"metadata":{"name":"fixed"}})"));
  classes.known.push_back(*api::parse_json(R"({"metadata":{"name":"elastic"},"allowVolumeExpansion":true})"));
  struct Row {
    const char* of;
    const char* phase;
    const char* to;
    const char* why;  // empty: it may
  };
  for (const Row& row :
       {Row{"elastic", "Bound", "2Gi", ""}, Row{"fixed", "Bound", "1024Mi", ""},
        Row{"fixed", "Bound", "2Gi", "must support resize"}, Row{"gone", "Bound", "2Gi", "must support resize"},
        Row{"", "Bound", "2Gi", "must support resize"},
        Row{"elastic", "Pending", "2Gi", "Only bound persistent volume claims can be expanded"}}) {
    api::AdmissionRequest request;
    request.name = "c";
    request.old_object = *api::parse_json(base::format(
        R"({{"spec":{{"storageClassName":"{}","resources":{{"requests":{{"storage":"1Gi"}}}}}},"status":{{"phase":"{}"}}}})",
        row.of, row.phase));
    request.object = request.old_object;
    request.object.edit_path({"spec", "resources", "requests"}).set("storage", row.to);
    const api::AdmissionAnswer answer = claim_growth_hook().review(request, classes);
    EXPECT_EQ(answer.allowed, row.why[0] == '\0') << row.of << row.to;
    EXPECT_NE(answer.message.find(row.why), std::string::npos) << answer.message;
  }
}

}  // namespace
}  // namespace apiserver
