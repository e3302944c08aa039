// Requests that wait for the loop: in which order they are served, and which are not.
#include "apiserver/http/request_turns.h"

#include <gtest/gtest.h>

#include "apiserver/http/recording_exchange_for_tests.h"
#include "client/fake_env_for_tests.h"

namespace apiserver {
namespace {

// Work takes time here while it is done.
class BusyEnv final : public client::testing::FakeEnv {
 public:
  base::Duration uptime() const override { return FakeEnv::uptime() + worked_; }
  void work(base::Duration time) { worked_ = worked_ + time; }

 private:
  base::Duration worked_{};
};

struct Room {
  BusyEnv env;
  std::shared_ptr<RequestMetrics> metrics = std::make_shared<RequestMetrics>();
  std::shared_ptr<RequestTurns> turns = std::make_shared<RequestTurns>(env, metrics);
  std::shared_ptr<const CountedAs> counted;  // what is asked for
  std::string served;
  std::vector<RequestTurns::Seat> seats;

  std::shared_ptr<RecordingExchange> ask(const std::string& user, base::Duration cost, bool lists = false) {
    auto exchange = std::make_shared<RecordingExchange>();
    turns->add(user, {exchange,
                      [this, user, cost](RequestTurns::Seat seat) {
                        served += user;
                        if (seat) seats.push_back(std::move(seat));
                        env.work(cost);
                      },
                      [](rt::HttpExchange& to, const base::Error& error) {
                        EXPECT_EQ(error.retry_after_seconds, 1);
                        to.respond({.status = base::http_status(error.code), .headers = {}, .body = {}});
                      },
                      lists, counted});
    return exchange;
  }
};

TEST(RequestTurns, of_a_flood_do_not_hold_up_others) {
  Room room;
  for (int i = 0; i < 5; ++i) room.ask("a", base::microseconds(400));
  room.ask("b", base::microseconds(100));
  EXPECT_EQ(room.served, "");  // what was posted together is sorted first
  room.env.settle();
  EXPECT_EQ(room.served, "abaaaa");
}

TEST(RequestTurns, leave_the_loop_to_others_in_between) {
  Room room;
  for (int i = 0; i < 4; ++i) room.ask("a", base::milliseconds(2));
  for (int i = 0; i < 2; ++i) room.env.loop().post([&room] { room.served += "-"; });
  room.env.settle();
  EXPECT_EQ(room.served, "a--aaa");
}

TEST(RequestTurns, of_lists_wait_until_few_are_written) {
  Room room;
  for (int i = 0; i < 20; ++i) room.ask("a", {}, true);
  room.ask("a", {});
  room.ask("b", {}, true);
  room.env.settle();
  EXPECT_EQ(room.served, "ab" + std::string(15, 'a'));
  for (int i = 0; i < 2; ++i) room.seats.pop_back();  // those of a
  room.env.settle();
  EXPECT_EQ(room.served.substr(17), "aa");
  while (!room.seats.empty()) {
    room.seats.pop_back();
    room.env.settle();
  }
  EXPECT_EQ(room.served.substr(19), "aaa");
  room.ask("a", {});
  room.env.settle();
  EXPECT_EQ(room.served.size(), 23u);
}

TEST(RequestTurns, are_taken_back_by_peers_that_go_away) {
  Room room;
  room.ask("a", base::milliseconds(2));
  const auto stays = room.ask("a", base::milliseconds(2)), left = room.ask("a", base::milliseconds(2));
  EXPECT_TRUE(room.env.step());  // a share, of one
  ASSERT_TRUE(left->closed);
  left->closed();
  room.env.settle();
  EXPECT_EQ(room.served, "aa");
  EXPECT_EQ(left->status, 429);  // for the audit log
  EXPECT_EQ(stays->status, 0);
  stays->closed();  // too late: it was served
  room.env.settle();
  EXPECT_EQ(stays->status, 0);
}

TEST(RequestTurns, of_a_list_end_with_its_last_piece) {
  for (const bool whole : {true, false}) {
    auto seat = std::make_shared<const int>(1);
    const std::weak_ptr<const int> taken = seat;
    rt::HttpResponse answer;
    if (whole)
      answer.body = "text";
    else
      answer.pieces = {std::make_shared<const std::string>("te"), std::make_shared<const std::string>("xt")};
    answer = RequestTurns::holding(std::move(seat), std::move(answer));
    std::string text;
    while (!answer.pieces.empty()) {
      EXPECT_FALSE(taken.expired());
      text += *answer.pieces.front();
      answer.pieces.erase(answer.pieces.begin());
    }
    EXPECT_EQ(text, "text");
    EXPECT_TRUE(taken.expired());
  }
}

TEST(RequestTurns, leave_with_the_server) {
  Room room;
  const std::weak_ptr<RequestTurns> turns = room.turns;
  const auto one = room.ask("a", {}), other = room.ask("b", {});
  room.turns->leave_all();
  EXPECT_EQ(one->status, 429);
  EXPECT_EQ(other->status, 429);
  room.env.settle();
  EXPECT_EQ(room.served, "");
  room.turns.reset();
  EXPECT_TRUE(turns.expired());
}

TEST(RequestTurns, are_refused_where_too_many_wait_or_for_too_long) {
  Room room;
  std::shared_ptr<RecordingExchange> last;
  for (int i = 0; i < 500; ++i) last = room.ask("a", base::milliseconds(40));
  EXPECT_EQ(last->status, 0);
  EXPECT_EQ(room.ask("a", {})->status, 429);
  EXPECT_EQ(room.ask("b", {})->status, 0);
  room.env.settle();
  EXPECT_EQ(last->status, 429);  // 375 of them took 15 s
  EXPECT_EQ(room.served.size(), 377u);
  EXPECT_EQ(room.served.substr(0, 3), "aba");
  EXPECT_EQ(room.ask("a", {})->status, 0);
}

TEST(RequestTurns, count_what_they_refuse) {
  Room room;
  const std::unique_ptr<rt::KvStore> kv = rt::make_memory_kv();
  const auto store = *store::Store::open(room.env, *kv);
  room.counted =
      std::make_shared<const CountedAs>(CountedAs{Verb::kList, api::find_kind(api::ResourceId{"", "v1", "pods"})});
  for (int i = 0; i < 502; ++i) room.ask("a", {});
  const std::string text = room.metrics->text(*store);
  EXPECT_NE(text.find("apiserver_request_total{code=\"429\",group=\"\",resource=\"pods\",subresource=\"\",verb="
                      "\"LIST\",version=\"v1\"} 2\n"),
            std::string::npos)
      << text.substr(0, 2000);
  EXPECT_NE(text.find("reason=\"queue-full\"} 2\n"), std::string::npos);
}

}  // namespace
}  // namespace apiserver
