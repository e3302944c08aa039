// The agent's side of the process that asks the NVIDIA driver: starts it, listens to it, and does without it when the
// driver hangs or crashes.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "node/devices/gpu_report.h"

namespace node {

class GpuWatch {
 public:
  // On the watch's own thread: what the driver says, or why it says nothing. The first comes within half a minute.
  using OnReport = std::function<void(base::Result<GpuReport>)>;

  // `command` prints a line of gpu_report_text() now and then until nobody reads them.
  // One that is silent for longer is not waited for. Initializing a driver without its daemon takes seconds a card.
  GpuWatch(std::vector<std::string> command, OnReport on_report, int silence_ms = 30'000);
  // Ends the process. One that cannot even be killed is left behind.
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

 private:
  void run();
  base::Status listen(int pipe);
  void pause(int milliseconds);
  void end_process();

  const std::vector<std::string> command_;
  const OnReport on_report_;
  const int silence_ms_;
  std::atomic<bool> stopping_ = false;
  int wake_[2] = {-1, -1};  // a byte here ends what the thread waits for
  pid_t process_ = 0;       // the thread's
  std::thread thread_;
};

}  // namespace node
