// The loop between descriptors and a stream.
#include "node/os/streams/stream_pump.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

namespace node {

namespace {

constexpr std::size_t kInputMax = std::size_t{256} << 10;  // held for a process that does not read
constexpr std::size_t kHeldMax = std::size_t{64} << 10;
constexpr std::size_t kPiece = 32768;
constexpr std::int64_t kIdleMaxMs = std::int64_t{4} * 3600 * 1000;  // as kubelets end streams on which nothing moves
constexpr int kDrainMs = 200;    // for the rest of the output, when others still hold its pipe
constexpr int kBeginMs = 5;      // between two looks whether it may begin
constexpr int kLookMs = 60'000;  // between two looks whether it was idle for too long
constexpr std::size_t kRestMax = std::size_t{1} << 20;

std::int64_t monotonic_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

StreamPump::StreamPump(api::PodStreamEvents events)
    : events_(std::move(events)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
StreamPump::~StreamPump() {
  if (wake_ >= 0) ::close(wake_);
}

void StreamPump::wake() {
  const std::uint64_t one = 1;
  if (::write(wake_, &one, sizeof one) < 0) return;  // it is awake
}

bool StreamPump::write(std::string bytes) {
  const std::lock_guard lock(mutex_);
  if (ended_ || input_closed_) return true;
  input_ += bytes;
  input_full_ = input_.size() > kInputMax;
  wake();
  return !input_full_;
}

void StreamPump::close_input() {
  const std::lock_guard lock(mutex_);
  input_closed_ = true;
  wake();
}

void StreamPump::resize(int columns, int rows) {
  const std::lock_guard lock(mutex_);
  size_ = {columns, rows};
  wake();
}

void StreamPump::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  wake();
}

bool StreamPump::is_ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void StreamPump::pass_on(int channel, std::string bytes) {
  if (!bytes.empty() && !is_ended()) events_.on_output(channel, std::move(bytes));
}

// Writes what waits, and tells the end of it once it is out. True if something still waits.
bool StreamPump::take_input(StreamEnds& ends) {
  std::unique_lock lock(mutex_);
  if (size_ && ends.resize) ends.resize(size_->first, size_->second);
  size_.reset();
  bool broken = ends.input < 0;
  while (!input_.empty() && !broken) {
    const ssize_t put = ::write(ends.input, input_.data(), std::min(input_.size(), kPiece));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) break;
    broken = put <= 0;
    if (!broken) input_.erase(0, static_cast<std::size_t>(put));
  }
  // A caller that stopped reading must not block the writers.
  if (broken) input_.clear();
  if (input_.empty() && input_closed_ && ends.close_input) {
    std::exchange(ends.close_input, nullptr)();
    ends.input = -1;
  }
  const bool waits = !input_.empty();
  const bool room = input_full_ && input_.size() <= kInputMax / 2;
  if (room) input_full_ = false;
  lock.unlock();
  if (room) events_.on_room();
  return waits;
}

// False when nothing more comes from there.
bool StreamPump::read_output(StreamEnds& ends, int which) {
  char buffer[kPiece + 1];
  const ssize_t got = ::read(ends.outputs[which], buffer, sizeof buffer);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got <= 0) return false;
  std::string bytes(buffer, static_cast<std::size_t>(got));
  int channel = which + 1;
  if (ends.packets) {
    channel = bytes[0] == 3 ? 2 : 1;
    bytes.erase(0, 1);
  }
  if (over_) rest_bytes_ += bytes.size();
  if (begun_)
    pass_on(channel, std::move(bytes));
  else
    held_[which] += bytes;
  return true;
}

// Until something happens, which it then reads.
void StreamPump::wait(StreamEnds& ends) {
  const bool writes = take_input(ends);
  // The output that is kept back is bounded: more of it waits in the pipe.
  const auto wants_output = [&](int which) {
    return begun_ || held_[which].size() < kHeldMax ? ends.outputs[which] : -1;
  };
  pollfd waits[6] = {{wake_, POLLIN, 0},
                     {wants_output(0), POLLIN, 0},
                     {wants_output(1), POLLIN, 0},
                     {writes ? ends.input : -1, POLLOUT, 0},
                     {over_ ? -1 : ends.ended, POLLIN, 0},
                     {killed_ ? -1 : ends.owner_ended, POLLIN, 0}};
  const int pause = !begun_ ? kBeginMs : over_ ? kDrainMs : kLookMs;
  const bool is_idle = ::poll(waits, 6, pause) <= 0;
  std::uint64_t count = 0;
  while (::read(wake_, &count, sizeof count) > 0) {
  }
  for (int which = 0; which < 2; ++which)
    if (waits[1 + which].revents != 0 && !read_output(ends, which)) ends.outputs[which] = -1;
  if (waits[4].revents != 0) over_ = true;
  if (waits[5].revents != 0) end();
  if (!is_idle) idle_since_ = monotonic_ms();
}

void StreamPump::run(const StreamEnds& given) {
  StreamEnds ends = given;
  begun_ = !ends.may_begin;
  idle_since_ = monotonic_ms();
  for (;;) {
    if (!begun_ && ends.may_begin()) {
      begun_ = true;
      for (int which = 0; which < 2; ++which) pass_on(which + 1, std::move(held_[which]));
    }
    const std::int64_t idle = monotonic_ms() - idle_since_;
    if (!killed_ && (is_ended() || idle > kIdleMaxMs)) {
      killed_ = true;
      if (!ends.kill) return;
      ends.kill();
    }
    const bool open = ends.outputs[0] >= 0 || ends.outputs[1] >= 0;
    // Others may hold the pipes of what has ended, and even write to them.
    if (over_ && (!open || idle >= kDrainMs || rest_bytes_ > kRestMax)) return;
    if (ends.ended < 0 && !open) return;
    wait(ends);
  }
}

void StreamPump::finish(base::Result<int> how) {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    input_.clear();
  }
  events_.on_end(std::move(how));
  events_ = {};  // who listens may hold the stream
}

}  // namespace node
