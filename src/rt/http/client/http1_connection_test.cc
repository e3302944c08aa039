// A connection that is given up while it is busy.
#include "rt/http/client/http1_connection.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "rt/env.h"
#include "rt/http/pass_on_for_tests.h"

namespace rt {
namespace {

// A callback that it still waited for would hold it, and with it the thread's context, for ever.
TEST(Http1Connection, one_that_is_given_up_while_it_writes_reads_nothing) {
  std::uint16_t port = 0;
  const int listener = testing::listen_on_loopback(port);
  const auto env = make_real_env("test");
  const auto shared =
      std::make_shared<ClientShared>(ClientOptions{.host = "127.0.0.1", .port = port, .tls = false}, env->loop());
  const auto connection = std::make_shared<Http1Connection>(shared);
  connection->run({.method = "GET", .target = "/"}, false, base::Duration{}, {});
  ASSERT_EQ(shared->context.run_one(), 1u);  // it is connected, and has written
  EXPECT_EQ(connection.use_count(), 2);
  connection->abort();
  ASSERT_EQ(shared->context.run_one(), 1u);  // it hears that it has
  EXPECT_EQ(connection.use_count(), 1);
  env->stop();
  ::close(listener);
}

}  // namespace
}  // namespace rt
