// Running conmon and runc, and reading what they say.
#include "node/os/runc/runc_launch.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "api/json/json.h"
#include "base/format.h"
#include "base/utf8.h"
#include "node/machine/container_text.h"
#include "node/os/command.h"
#include "node/os/pod_folders.h"
#include "node/os/proc.h"
#include "node/os/streams/cri_log.h"
#include "rt/files/files.h"
#include "rt/files/rooted_files.h"

namespace node {

using base::Code;
using base::make_error;

namespace {

constexpr std::size_t kRuntimeLogMax = 1 << 20;

// A container of a pod that ends is waited for as long as most take, so that it ends like others.
constexpr int kMadeSeconds = 60, kMadeSecondsGivenUp = 5;

// conmon's one line: {"pid": 12} or {"pid": -1, "message": "..."}.
base::Status read_sync(int fd, const std::atomic<bool>* given_up) {
  std::string text;
  for (int tenths = 0; text.size() < kRuntimeLogMax && text.find('\n') == std::string::npos;) {
    pollfd wait{fd, POLLIN, 0};
    const int ready = ::poll(&wait, 1, 100);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      const bool hurried = given_up != nullptr && *given_up;
      const int seconds = hurried ? kMadeSecondsGivenUp : kMadeSeconds;
      if (++tenths < 10 * seconds) continue;
      return make_error(Code::kTimeout, base::format("the container was not made within {} seconds", seconds));
    }
    char buffer[4096];
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  const auto json = api::parse_json(base::to_utf8(text));
  if (!json.ok()) return make_error(Code::kInternal, base::format("conmon gave no answer {}", reason_text(text)));
  if ((*json)["pid"].as_int(-1) > 0 || (*json)["data"].as_int(-1) > 0) return {};
  return make_error(Code::kInternal, reason_text((*json)["message"].as_string()));
}

std::vector<std::string> conmon_words(const RuncPrograms& programs, const Launch& launch) {
  std::vector<std::string> words = {programs.conmon,
                                    "-b",
                                    launch.folder,
                                    "-c",
                                    launch.id,
                                    "-u",
                                    launch.id,
                                    "-n",
                                    launch.name,
                                    "-r",
                                    programs.runc,
                                    "--runtime-arg",
                                    "--root=" + programs.state,
                                    "--runtime-arg",
                                    "--log=" + launch.folder + "/runc.log",
                                    "--runtime-arg",
                                    "--log-format=json",
                                    "-p",
                                    launch.folder + "/pidfile",
                                    "-P",
                                    launch.folder + "/conmon.pid",
                                    "-l",
                                    "k8s-file:" + launch.log,
                                    "--exit-dir",
                                    programs.exits,
                                    "--persist-dir",
                                    launch.folder,
                                    "--full-attach",
                                    "--log-level",
                                    "error",
                                    "--log-size-max",
                                    std::to_string(kLogBytesMax)};
  if (launch.terminal) words.emplace_back("--terminal");
  if (launch.input) words.emplace_back("--stdin");
  if (launch.input && !launch.input_once) words.emplace_back("--leave-stdin-open");
  return words;
}

// The runtime's own reason where it gave one.
base::Error explained(const std::string& folder, const base::Error& error) {
  const auto log = rt::read_rooted_tail({folder, "runc.log"}, kRuntimeLogMax);
  std::string reason = log.ok() ? reason_in_runtime_log(*log) : std::string();
  if (reason.empty()) reason = reason_text(error.message);
  const Code code = is_own_fault(reason) ? Code::kInvalid : error.code;
  return make_error(code, std::move(reason));
}

base::Status create(const RuncPrograms& programs, const Launch& launch) {
  int sync[2];
  if (::pipe2(sync, O_CLOEXEC) != 0) return make_error(Code::kUnavailable, std::strerror(errno));
  CommandOptions options;
  options.environment = {"_OCI_SYNCPIPE=3", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
  options.keep_fd = sync[1];
  options.output_path = launch.folder + "/conmon.log";
  // It leaves a file "oom" where it runs. Its other paths are ours, so they have to be absolute for this.
  if (launch.folder.starts_with('/')) options.folder = launch.folder;
  const auto ran = run_command(conmon_words(programs, launch), options);
  ::close(sync[1]);
  base::Status made = ran.ok() ? read_sync(sync[0], launch.given_up) : base::Status(ran.error());
  ::close(sync[0]);
  return made;
}

bool wait_until_gone(const std::string& monitor) {
  for (int wait = 0; wait < 200; ++wait) {
    if (described_process(monitor) == 0) return true;
    ::usleep(10'000);
  }
  return false;
}

// The container's monitor was never noted: its making was cut short.
void end_unknown_monitors(const std::string& id) {
  for (int wait = 0; wait < 200; ++wait) {
    const std::vector<pid_t> left = processes_with_argument(id);
    if (left.empty()) return;
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    ::usleep(10'000);
  }
}

}  // namespace

bool is_own_fault(std::string_view reason) {
  for (const char* words : {"exec: \"", "exec format error", "executable file not found", "chdir to cwd", "exec /"})
    if (reason.find(words) != std::string_view::npos) return true;
  return false;
}

std::string runtime_of(const std::string& folder, const std::string& usual) {
  std::string program = read_text(folder + "/runtime");
  return program.empty() ? usual : program;
}

base::Status launch_container(const RuncPrograms& programs, const Launch& launch) {
  TRY_VOID(rt::write_file(launch.folder + "/runtime", programs.runc, 0600));
  const base::Status made = create(programs, launch);
  if (!made.ok()) return explained(launch.folder, made.error());
  const pid_t pid = static_cast<pid_t>(std::atoi(read_text(launch.folder + "/pidfile").c_str()));
  const pid_t monitor = static_cast<pid_t>(std::atoi(read_text(launch.folder + "/conmon.pid").c_str()));
  TRY_VOID(rt::write_file(launch.folder + "/pid", describe_process(pid), 0600));
  TRY_VOID(rt::write_file(launch.folder + "/monitor", describe_process(monitor), 0600));
  TRY_VOID(launch.before_start());
  const base::Status started =
      must_run({programs.runc, "--root=" + programs.state, "--log=" + launch.folder + "/runc.log", "--log-format=json",
                "start", launch.id});
  if (started.ok()) return {};
  return explained(launch.folder, started.error());
}

void end_container(const RuncPrograms& programs, const std::string& folder, const std::string& id) {
  if (id.empty() || ::access(folder.c_str(), F_OK) != 0) return;
  const std::string state = programs.state + "/" + id;
  const std::string monitor = read_text(folder + "/monitor");
  if (const pid_t pid = described_process(read_text(folder + "/pid")); pid != 0) ::kill(pid, SIGKILL);
  if (monitor.empty()) end_unknown_monitors(id);
  if (::access(state.c_str(), F_OK) == 0) {
    (void)run_command({runtime_of(folder, programs.runc), "--root=" + programs.state, "delete", "--force", id});
    remove_tree(state);
  }
  if (monitor.empty() || wait_until_gone(monitor)) return;
  if (const pid_t pid = described_process(monitor); pid != 0) ::kill(pid, SIGKILL);
  (void)wait_until_gone(monitor);
}

}  // namespace node
