// Which class a claim gets that names none.
#include <gtest/gtest.h>

#include "apiserver/kinds/storage_class_hook.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;

struct Classes : api::ObjectReader {
  std::vector<Json> known;

  std::optional<Json> find(const api::ResourceId&, std::string_view, std::string_view) const override { return {}; }
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
  EXPECT_EQ(classes.given(R"({"spec":"x"})"), "null") << "what is no claim is for others to name";
  EXPECT_EQ(classes.given(R"({"metadata":{"annotations":{"volume.beta.kubernetes.io/storage-class":"c"}},"spec":{}})"),
            "null");
}

}  // namespace
}  // namespace apiserver
