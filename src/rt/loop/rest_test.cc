// Threads that have become quiet give memory back once, and not while they work.
#include "rt/loop/rest.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <thread>

#include "base/await_for_tests.h"

namespace rt {
namespace {

namespace asio = boost::asio;

class Resting : public ::testing::Test {
 protected:
  void SetUp() override {
    thread_ = std::thread([this] {
      run_with_rests(
          context_, kHandlersOfWork, [this] { rest(); }, std::chrono::milliseconds(20));
    });
  }
  void TearDown() override {
    guard_.reset();
    if (thread_.joinable()) thread_.join();
  }
  void rest() {
    if (rests_ < rested_.size()) rested_[rests_].set_value();
    ++rests_;
  }
  void work(std::size_t handlers) {
    std::promise<void> done;
    for (std::size_t i = 1; i < handlers; ++i) asio::post(context_, [] {});
    asio::post(context_, [&] { done.set_value(); });
    base::await(done);
  }

  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> guard_ = asio::make_work_guard(context_);
  std::array<std::promise<void>, 2> rested_;
  std::size_t rests_ = 0;  // of that thread
  std::thread thread_;
};

TEST_F(Resting, comes_once_after_work) {
  base::await(rested_[0]);  // the start is work
  work(10);                 // a few handlers are none
  work(kHandlersOfWork);
  base::await(rested_[1]);
  work(10);
  guard_.reset();
  thread_.join();
  EXPECT_EQ(rests_, 2U);
}

TEST_F(Resting, ends_with_the_context) {
  base::await(rested_[0]);
  context_.stop();
  thread_.join();
}

TEST_F(Resting, ends_while_it_waits_for_quiet) {
  work(kHandlersOfWork);
  guard_.reset();
  thread_.join();
}

}  // namespace
}  // namespace rt
