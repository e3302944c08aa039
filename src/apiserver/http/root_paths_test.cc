// The document at "/", for those who look around with curl.
#include "api/json/json.h"
#include "apiserver/http/served_for_tests.h"

namespace apiserver {
namespace {

TEST(RootPaths, are_paths_that_are_served) {
  Served served;
  for (const char* root : {"/", "/index.html"}) {
    const rt::HttpResponse answer = served.ask("GET", root, {{"Accept", "*/*"}});
    ASSERT_EQ(answer.status, 200);
    const auto listed = api::parse_json(answer.body);
    ASSERT_TRUE(listed.ok());
    EXPECT_GT((*listed)["paths"].size(), 40u);
    std::string before;
    for (const api::Json& path : (*listed)["paths"].items()) {
      EXPECT_LT(before, path.as_string());
      before = path.str();
      EXPECT_NE(served.ask("GET", before, {}).status, 404) << before;
    }
  }
  EXPECT_EQ(served.ask("GET", "/nothing", {}).status, 404);
  EXPECT_EQ(served.ask("POST", "/", {}).status, 404);
}

}  // namespace
}  // namespace apiserver
