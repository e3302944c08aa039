// NVIDIA's management library (NVML), loaded at run time. A driver may hang or crash whoever calls it, so that only the
// process `volcano gpu-watch` does, which tells the agent a line at a time.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "node/devices/gpu_report.h"

namespace node {

class Nvml {
 public:
  // Loads and initializes. Errors say what is missing, in the library's words where it has some.
  static base::Result<std::unique_ptr<Nvml>> load(const std::string& library);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // The present state. A card that does not answer is reported as ill.
  base::Result<GpuReport> report();
  // Waits for critical errors of cards, which later reports tell, for a second at most.
  void wait_for_errors();

 private:
  Nvml();
  struct State;
  std::unique_ptr<State> state_;
};

// The process's whole life: a report on standard output whenever something changed, and every few seconds; until
// nobody reads them. The exit status.
int run_gpu_watch(const std::string& library);

}  // namespace node
