// The notice that a container has ended: monitors leave a file per container, one thread looks.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "node/machine/runtime.h"

namespace node {

// Thread-safe.
class Exits {
 public:
  Exits() = default;
  ~Exits();

  base::Status open(const std::string& folder, Runtime::OnExit on_exit);
  // From now on the end of `id` is reported, once. `monitor` describes the process that would write the file
  // (proc.h): when it is gone without a file, the container counts as lost. `oom_file` appears on lack of memory.
  void watch(const std::string& id, const std::string& monitor, const std::string& oom_file);
  void forget(const std::string& id);
  // The recorded end, if there is one.
  bool read(const std::string& id, ExitedContainer& out, const std::string& oom_file = {}) const;
  void close();

 private:
  struct Watched {
    std::string monitor;
    std::string oom_file;
    int missing = 0;  // looks in a row at which the monitor was gone and no file was there
  };

  void run();
  void look(bool at_monitors);

  std::string folder_;
  Runtime::OnExit on_exit_;
  std::mutex mutex_;
  std::map<std::string, Watched> watched_;
  int inotify_ = -1;
  int wake_ = -1;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace node
