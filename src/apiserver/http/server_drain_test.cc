// A server that is about to end: watches end in words, what else was asked is answered, and then nobody is left.
#include <gtest/gtest.h>

#include <future>

#include "apiserver/http/served_for_tests.h"
#include "base/await_for_tests.h"
#include "rt/http/peer_for_tests.h"

namespace apiserver {
namespace {

std::string maps_asked_for(const std::string& query) {
  return "GET /api/v1/namespaces/default/configmaps" + query +
         " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\n\r\n";
}

TEST(ServerDrain, ends_watches_in_words_and_answers_what_was_asked) {
  Served served;
  std::promise<void> held, go_on, drained;
  {
    rt::Peer watches(served.server->port()), lists(served.server->port()), watches_late(served.server->port());
    watches.write(maps_asked_for("?watch=true"));
    watches.read_until("\r\n\r\n");
    served.env->loop().post([&] {
      held.set_value();
      base::await(go_on);
    });
    base::await(held);
    lists.write(maps_asked_for(""));
    served.server->drain(base::hours(1), [&] { drained.set_value(); });
    watches_late.write(maps_asked_for("?watch=true"));
    go_on.set_value();
    EXPECT_EQ(watches.read_until("0\r\n\r\n"), "0\r\n\r\n");
    const std::string list = lists.read_all(), late = watches_late.read_all();
    EXPECT_TRUE(list.find("Connection: close\r\n") != list.npos && list.find("ConfigMapList") != list.npos) << list;
    EXPECT_TRUE(late.starts_with("HTTP/1.1 200 ") && late.ends_with("0\r\n\r\n")) << late;
  }
  base::await(drained);
}

}  // namespace
}  // namespace apiserver
