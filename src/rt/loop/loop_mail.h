// Messages of the I/O thread to a loop: gathered while more comes, and told in one go, since each telling may wake a
// thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <utility>
#include <vector>

#include "rt/loop/loop.h"

namespace rt {

// I/O thread only.
class LoopMail {
 public:
  explicit LoopMail(Loop& loop) : loop_(loop) {}

  // In the order of the calls, and at the latest when nobody holds it and what the I/O thread has at hand is done.
  void add(boost::asio::io_context& context, Task task) {
    waiting_.push_back(std::move(task));
    if (waiting_.size() >= kTogetherMax) return deliver();
    if (due_ || holders_ > 0) return;
    due_ = true;
    boost::asio::post(context, [this] {
      due_ = false;
      if (holders_ == 0) deliver();
    });
  }
  // Each hold is let go once. Meant for the short while in which a connection takes what has already come.
  void hold() { ++holders_; }
  void let_go() {
    if (--holders_ == 0) deliver();
  }

 private:
  static constexpr std::size_t kTogetherMax = 64;  // other work of the loop gets its turn

  void deliver() {
    if (waiting_.empty()) return;
    loop_.post([tasks = std::exchange(waiting_, {})] {
      for (const Task& task : tasks) task();
    });
  }

  Loop& loop_;
  std::vector<Task> waiting_;
  int holders_ = 0;
  bool due_ = false;
};

}  // namespace rt
