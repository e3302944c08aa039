// How runc and conmon are used for one container: made, let go, ended.
//
//   created   conmon watches, the process waits at runc's exec.fifo         files pid, monitor
//   let go    file `started`, then `runc start`: the process is its own      exec.fifo is gone
//   ended     conmon writes exits/ID, then ends
//
// The agent can be killed between any two of these; PodFolders::containers_of reads from the files where it was.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "base/result.h"

namespace node {

struct RuncPrograms {
  std::string runc;
  std::string conmon;
  std::string state;  // runc's folder, one a container below
  std::string exits;  // where conmon writes exit codes
};

struct Launch {
  std::string id;
  std::string name;
  std::string folder;                           // the OCI bundle, and what is kept beside it
  std::string log;                              // the container's output
  bool terminal = false;                        // it has one, which the monitor keeps
  bool input = false;                           // the monitor hands on what those write who attach to it
  bool input_once = false;                      // until the first of them goes
  const std::atomic<bool>* given_up = nullptr;  // once true, one that takes long is not waited for
  std::function<base::Status()> before_start;   // writes down that the process begins
};

// Blocks. Errors: kInvalid is the container's own fault (its program cannot be run) and will not change; after others
// the process has not run either, and to try again from a fresh folder can help.
base::Status launch_container(const RuncPrograms& programs, const Launch& launch);
// The OCI runtime that the container in this folder was made by; `usual` where nothing says so.
std::string runtime_of(const std::string& folder, const std::string& usual);
// Blocks. Kills what runs and takes the runtime's record away; afterwards nobody writes exits/ID any more.
void end_container(const RuncPrograms& programs, const std::string& folder, const std::string& id);
// Whether what a runtime said is about the container's own program. Pure.
bool is_own_fault(std::string_view reason);

}  // namespace node
