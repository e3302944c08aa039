// Processes beside a container's own: in the same place, with the same rights, environment and limits.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "node/os/streams/exec_launch.h"

namespace node {

struct ExecRequest {
  std::vector<std::string> command;
  bool input = false;
  bool terminal = false;
};

// A process in a container. Belongs to one thread, but for kill().
class PodExec {
 public:
  // `folder` is the container's. Errors say why nothing runs.
  static base::Result<std::unique_ptr<PodExec>> start(const std::string& runc, const std::string& runtime_state,
                                                      const std::string& folder, const ExecRequest& request);
  ~PodExec();  // after end()
  PodExec(const PodExec&) = delete;
  PodExec& operator=(const PodExec&) = delete;

  ExecProcess& process() { return process_; }
  int container_ended() const { return container_; }  // readable then
  // Output until then is the runtime's own.
  bool has_begun() const;
  void kill() const;
  // Waits for its end: the exit code, or why it never ran.
  base::Result<int> end();

 private:
  PodExec(ExecProcess process, std::string files, bool by_runtime)
      : process_(std::move(process)), files_(std::move(files)), by_runtime_(by_runtime) {}

  ExecProcess process_;
  std::string files_;  // what is kept beside it begins so
  bool by_runtime_;
  int container_ = -1;  // a pidfd
};

// The folder of the container's newest attempt whose process runs, or kNotFound.
class PodFolders;
base::Result<std::string> running_container(const PodFolders& folders, const std::string& uid,
                                            const std::string& container);

}  // namespace node
