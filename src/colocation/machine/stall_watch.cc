// Triggers of the kernel, waited for on a thread of their own.
#include "colocation/machine/stall_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "rt/files/rooted_files.h"

namespace colocation {

namespace {

constexpr const char* kResources[] = {"memory", "cpu", "io"};
// 150 ms of a second; without CAP_SYS_RESOURCE the kernel takes multiples of two seconds alone.
constexpr const char* kTriggers[] = {"some 150000 1000000", "some 150000 2000000"};
constexpr long kProcMagic = 0x9fa0;  // PROC_SUPER_MAGIC

bool is_of_kernel(int fd) {
  struct statfs facts {};
  return ::fstatfs(fd, &facts) == 0 && facts.f_type == kProcMagic;
}

}  // namespace

struct StallWatch::State {
  rt::Descriptor end;  // written to when the watch ends
  std::vector<std::pair<std::string, rt::Descriptor>> triggers;
  std::vector<std::string> seen;  // by the wait that has ended
  std::function<void(const std::string&)> on_stall;
  bool ended = false;  // loop thread only
};

StallWatch::StallWatch(rt::Env& env, std::string pressure_folder, std::function<void(const std::string&)> on_stall)
    : state_(std::make_shared<State>()) {
  state_->on_stall = std::move(on_stall);
  state_->end = rt::Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  for (const char* resource : kResources) {
    const std::string path = pressure_folder + "/" + resource;
    rt::Descriptor file(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
    if (!file.is_open() || !is_of_kernel(file.get())) continue;
    const auto takes = [&file](const char* trigger) {
      return ::write(file.get(), trigger, std::strlen(trigger) + 1) >= 0;
    };
    if (std::ranges::none_of(kTriggers, takes)) continue;
    state_->triggers.emplace_back(resource, std::move(file));
  }
  if (!works() || !state_->end.is_open()) return;
  worker_ = env.worker("stalls");
  wait();
}

StallWatch::~StallWatch() {
  state_->ended = true;
  const std::uint64_t one = 1;
  if (state_->end.is_open()) (void)!::write(state_->end.get(), &one, sizeof one);
  worker_.reset();
}

bool StallWatch::works() const { return !state_->triggers.empty(); }

void StallWatch::wait() {
  worker_->run(
      [state = state_] {
        std::vector<pollfd> waits = {{state->end.get(), POLLIN, 0}};
        for (const auto& [resource, file] : state->triggers) waits.push_back({file.get(), POLLPRI, 0});
        ::poll(waits.data(), waits.size(), 60'000);
        state->seen.clear();
        for (std::size_t at = 0; at < state->triggers.size(); ++at)
          if ((waits[at + 1].revents & POLLPRI) != 0) state->seen.push_back(state->triggers[at].first);
        // A trigger that has failed would be told of without end.
        for (std::size_t at = state->triggers.size(); at > 0; --at)
          if ((waits[at].revents & (POLLERR | POLLNVAL)) != 0)
            state->triggers.erase(state->triggers.begin() + static_cast<std::ptrdiff_t>(at) - 1);
      },
      [this, state = state_] {
        if (state->ended) return;
        const std::vector<std::string> seen = state->seen;
        if (works()) wait();
        for (const std::string& resource : seen) state->on_stall(resource);
      });
}

}  // namespace colocation
