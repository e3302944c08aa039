// A lease that is kept while its program is busy.
#include "client/election/leadership.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/await_for_tests.h"

namespace client {
namespace {

// Holds one lease and lets the test wait for its renewals.
class LeaseServer : public Client {
 public:
  void call(Request request, OnResult on_result) override {
    if (request.verb == Verb::kGet && lease_.is_null())
      return on_result(base::make_error(base::Code::kNotFound, "no lease"));
    if (request.verb != Verb::kGet) {
      lease_ = std::move(request.body);
      if (++*writes_ == wanted_) reached_.set_value();
    }
    on_result(lease_);
  }
  std::unique_ptr<Watch> watch(WatchRequest, OnEvent, OnEnd) override { return nullptr; }

  LeaseServer(std::shared_ptr<std::atomic<int>> writes, int wanted, std::promise<void>& reached)
      : writes_(std::move(writes)), wanted_(wanted), reached_(reached) {}

 private:
  api::Json lease_;
  std::shared_ptr<std::atomic<int>> writes_;
  int wanted_;
  std::promise<void>& reached_;
};

struct Program {
  std::unique_ptr<rt::RealEnv> env = rt::make_real_env("program");
  std::shared_ptr<std::atomic<int>> writes = std::make_shared<std::atomic<int>>(0);
  std::promise<void> reached, started, lost;
  std::unique_ptr<Leadership> leadership;

  // `wanted` writes of the lease are waited for by `reached`.
  explicit Program(int wanted, base::Duration still_max = base::minutes(1)) {
    auto made = Leadership::make(
        *env,
        [this, wanted](rt::Env&) -> base::Result<std::unique_ptr<Client>> {
          return std::unique_ptr<Client>(std::make_unique<LeaseServer>(writes, wanted, reached));
        },
        {.ns = "ns",
         .name = "lock",
         .identity = "a",
         .lease_duration = base::seconds(15),
         .renew_deadline = base::seconds(10),
         .retry_period = base::milliseconds(5)},
        still_max);
    leadership = *std::move(made);
    leadership->start([this] { started.set_value(); }, [this] { lost.set_value(); });
  }
  ~Program() {
    leadership.reset();
    env->stop();
  }
};

TEST(Leadership, a_long_turn_of_the_loop_keeps_no_renewal_waiting) {
  Program program(50);
  std::promise<void> turned;
  program.env->loop().post([&] {
    base::await(program.reached);
    turned.set_value();
  });
  base::await(turned);
  base::await(program.started);
  EXPECT_GE(*program.writes, 50);
  EXPECT_TRUE(program.leadership->is_leader());
  EXPECT_TRUE(program.leadership->fence()());
}

TEST(Leadership, a_program_that_stands_still_loses_the_lease) {
  Program program(1, base::milliseconds(1));
  base::await(program.started);
  std::promise<void> ended;
  program.env->loop().post([held = ended.get_future().share()] { held.wait(); });
  base::await(program.lost);
  EXPECT_FALSE(program.leadership->fence()());
  ended.set_value();
}

TEST(Leadership, a_lease_is_given_back_on_the_loop_of_the_program) {
  Program program(2);
  base::await(program.started);
  program.leadership->close_fence();
  EXPECT_FALSE(program.leadership->fence()());
  EXPECT_TRUE(program.leadership->is_leader());
  std::promise<void> released;
  program.leadership->release([&] { released.set_value(); });
  base::await(released);
  EXPECT_FALSE(program.leadership->is_leader());
}

TEST(Leadership, a_client_that_cannot_be_made_is_said) {
  const auto env = rt::make_real_env("program");
  const auto made = Leadership::make(
      *env,
      [](rt::Env&) -> base::Result<std::unique_ptr<Client>> {
        return base::make_error(base::Code::kInvalid, "no such file");
      },
      {.ns = "ns", .name = "lock", .identity = "a"}, base::minutes(1));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message, "no such file");
  env->stop();
}

}  // namespace
}  // namespace client
