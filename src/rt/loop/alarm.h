// A timer that rings once, at the earliest time it was set for: deadlines that move back do not touch it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <utility>

namespace rt {

// Belongs to one I/O thread.
class Alarm {
 public:
  using Clock = boost::asio::steady_timer::clock_type;

  explicit Alarm(boost::asio::io_context& context) : timer_(context) {}

  // `ring` looks itself whether the time has come, since it may have moved back.
  void set(Clock::time_point due, std::function<void()> ring) {
    if (due >= armed_for_) return;
    armed_for_ = due;
    timer_.expires_at(due);
    timer_.async_wait([this, ring = std::move(ring)](boost::system::error_code error) {
      if (error) return;
      armed_for_ = Clock::time_point::max();
      ring();
    });
  }
  void cancel() { timer_.cancel(); }

 private:
  boost::asio::steady_timer timer_;
  Clock::time_point armed_for_ = Clock::time_point::max();
};

}  // namespace rt
