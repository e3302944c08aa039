// How long a busy connection waits, and that what was gathered is told once and in order.
#include "rt/http/read_pace.h"

#include <gtest/gtest.h>

#include <string>

#include "rt/loop/loop_mail.h"

namespace rt {
namespace {

using namespace std::chrono_literals;

struct Reader {
  ReadPace pace;
  ReadPace::Clock::time_point now = ReadPace::Clock::time_point(1h);

  // One look that finds so many pieces, so long after the last one ended.
  ReadPace::Clock::duration look(ReadPace::Clock::duration after, int pieces) {
    now += after;
    for (int i = 0; i < pieces; ++i) pace.took(1);
    return pace.pause(now);
  }
};

TEST(ReadPace, what_comes_now_and_then_is_taken_at_once) {
  Reader reader;
  EXPECT_EQ(reader.look(0ms, 1), 0ms);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(reader.look(10ms, 1), 0ms) << i;
  // Two answers that come close to each other are not a load yet.
  EXPECT_EQ(reader.look(10us, 2), 0ms);
}

TEST(ReadPace, what_comes_all_the_time_is_gathered) {
  Reader reader;
  for (int i = 0; i < 100; ++i) reader.look(1ms, 1);
  // Some eight pieces together; the pause itself changes nothing about how many come.
  EXPECT_NEAR(reader.look(1ms, 1) / 1us, 8000, 200);
  for (int i = 0; i < 100; ++i) reader.look(8ms, 8);
  EXPECT_NEAR(reader.look(8ms, 8) / 1us, 8000, 200);
}

TEST(ReadPace, a_pause_is_short_whatever_comes) {
  Reader reader;
  for (int i = 0; i < 100; ++i) reader.look(3ms, 1);
  EXPECT_EQ(reader.look(3ms, 1), 10ms);
  for (int i = 0; i < 100; ++i) reader.look(50us, 1);
  EXPECT_LT(reader.look(50us, 1), 500us);
}

// Thirty-two clients that each wait for their answer and then ask again: a pause holds up all of them.
TEST(ReadPace, pauses_in_which_all_answers_come_grow_shorter) {
  ReadPace pace;
  auto now = ReadPace::Clock::time_point(1h);
  auto pause = ReadPace::Clock::duration(10ms);
  for (int round = 0; round < 60; ++round) {
    now += pause + 1ms;
    pace.took(32);
    pause = pace.pause(now);
  }
  EXPECT_LT(pause, 500us);
}

TEST(ReadPace, a_load_that_is_over_is_forgotten) {
  Reader reader;
  for (int i = 0; i < 100; ++i) reader.look(1ms, 1);
  EXPECT_GT(reader.look(1ms, 1), 0ms);
  EXPECT_EQ(reader.look(1s, 1), 0ms);
}

class CountingLoop : public Loop {
 public:
  void post(Task task) override {
    ++posts;
    task();
  }
  TimerId after(base::Duration, Task) override { return 0; }
  void cancel(TimerId) override {}
  int posts = 0;
};

TEST(LoopMail, is_told_together_and_in_order) {
  CountingLoop loop;
  LoopMail mail(loop);
  boost::asio::io_context context;
  std::string order;
  const auto add = [&](char name) { mail.add(context, [&order, name] { order += name; }); };
  add('a');
  add('b');
  EXPECT_EQ(order, "");
  context.run();
  EXPECT_EQ(order, "ab");
  EXPECT_EQ(loop.posts, 1);
  mail.hold();
  mail.hold();
  add('c');
  mail.let_go();
  add('d');
  context.restart();
  context.run();
  EXPECT_EQ(order, "ab");
  mail.let_go();
  EXPECT_EQ(order, "abcd");
  EXPECT_EQ(loop.posts, 2);
}

TEST(LoopMail, does_not_grow_while_it_is_held) {
  CountingLoop loop;
  LoopMail mail(loop);
  boost::asio::io_context context;
  int order = 0;
  mail.hold();
  for (int i = 0; i < 1000; ++i) mail.add(context, [&] { ++order; });
  EXPECT_GT(order, 900);
  mail.let_go();
  EXPECT_EQ(order, 1000);
}

}  // namespace
}  // namespace rt
