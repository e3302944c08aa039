// Names that a definition no longer has.
#include "apiserver/custom/custom_for_tests.h"
#include "apiserver/pipeline/definition_keeper.h"

namespace apiserver {
namespace {

// A definition that waits for the names of one that went is told so even when the first write fails.
TEST(FreeNames, are_offered_until_the_write_succeeds) {
  CustomBench b;
  b.define_widgets();
  Json other = yaml(kWidgets);
  other.edit("metadata").set("name", "gadgets.example.com");
  other.edit("spec").edit("names").set("plural", "gadgets");
  const Json waiting = b.define(other);
  EXPECT_EQ(waiting["status"]["conditions"][std::size_t{0}]["status"].as_string(), "False") << waiting.dump();

  SideWork side_work(b.env);
  KindBook book(*b.store);
  std::vector<std::string> written;
  base::Result<Answer> next = base::Error{base::Code::kUnavailable, "the disk is full"};
  DefinitionKeeper keeper(b.env, *b.store, side_work, book, [&](Request request, OnAnswer on_answer) {
    written.push_back(request.name + "/" + request.subresource);
    on_answer(next);
  });
  keeper.begin();
  keeper.removed("widgets.example.com");
  EXPECT_EQ(written, std::vector<std::string>{"gadgets.example.com/status"});
  b.env.run_for(base::seconds(2));
  EXPECT_GE(written.size(), 2u);
  next = Answer{};
  b.env.run_for(base::seconds(2));
  const std::size_t then = written.size();
  b.env.run_for(base::seconds(60));
  EXPECT_EQ(written.size(), then);
}

}  // namespace
}  // namespace apiserver
