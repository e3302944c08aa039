// How a process is put into a container: by the runtime, or beside a plain process.
#include "node/os/streams/pod_exec.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>

#include "api/json/json.h"
#include "base/format.h"
#include "node/machine/container_text.h"
#include "node/os/pod_folders.h"
#include "node/os/proc.h"
#include "node/os/runc/runc_launch.h"
#include "rt/files/files.h"
#include "rt/files/rooted_files.h"
#include "rt/tls/tls.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::size_t kRuntimeLogMax = 1 << 20;

Json strings(const std::vector<std::string>& list) {
  Json json = Json::array();
  for (const std::string& item : list) json.push_back(item);
  return json;
}

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> out;
  for (const Json& item : list.items()) out.push_back(item.str());
  return out;
}

// The launch of another command with the settings of the container's own process.
base::Result<ExecLaunch> by_runtime(const std::string& runc, const std::string& state, const std::string& folder,
                                    const std::string& files, const ExecRequest& request) {
  auto config = api::parse_json(read_text(folder + "/config.json"));
  if (!config.ok()) return make_error(Code::kInternal, "the container's configuration cannot be read");
  Json process = (*config)["process"];
  process.set("args", strings(request.command));
  process.set("terminal", request.terminal);
  if (request.terminal) {
    Json environment = process["env"];
    const auto has_term = [](const Json& entry) { return entry.as_string().starts_with("TERM="); };
    if (std::ranges::none_of(environment.items(), has_term)) environment.push_back("TERM=xterm");
    process.set("env", std::move(environment));
  }
  TRY_VOID(rt::write_file(files + ".json", process.dump(), 0600));
  ExecLaunch launch;
  launch.words = {runtime_of(folder, runc),
                  "--root=" + state,
                  "--log=" + files + ".log",
                  "--log-format=json",
                  "exec",
                  "--process",
                  files + ".json",
                  "--pid-file",
                  files + ".pid",
                  read_text(folder + "/id")};
  launch.environment = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
  launch.input = request.input;
  launch.terminal = request.terminal;
  return launch;
}

base::Result<ExecLaunch> beside_process(const std::string& folder, const ExecRequest& request) {
  const auto spec = api::parse_json(read_text(folder + "/spec.json"));
  if (!spec.ok()) return make_error(Code::kInternal, "the container's configuration cannot be read");
  ExecLaunch launch;
  launch.words = request.command;
  launch.environment = texts((*spec)["env"]);
  if (request.terminal) launch.environment.emplace_back("TERM=xterm");
  launch.folder = (*spec)["cwd"].str();
  launch.input = request.input;
  launch.terminal = request.terminal;
  launch.no_new_privileges = (*spec)["noNewPrivileges"].as_bool();
  if ((*spec)["uid"].is_int()) launch.user = (*spec)["uid"].as_int();
  if ((*spec)["gid"].is_int()) launch.group = (*spec)["gid"].as_int();
  return launch;
}

}  // namespace

base::Result<std::string> running_container(const PodFolders& folders, const std::string& uid,
                                            const std::string& container) {
  const auto missing = [&] {
    return make_error(Code::kNotFound, base::format("container not found (\"{}\")", container));
  };
  if (container.empty() || container.find('/') != std::string::npos || container.starts_with('.')) return missing();
  int attempt = -1;
  for (const std::string& name : list_folder(folders.pod(uid) + "/containers/" + container)) {
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    attempt = std::max(attempt, number);
  }
  if (attempt < 0) return missing();
  std::string folder = folders.container(uid, container, attempt);
  if (described_process(read_text(folder + "/pid")) == 0) return missing();
  return folder;
}

base::Result<std::unique_ptr<PodExec>> PodExec::start(const std::string& runc, const std::string& runtime_state,
                                                      const std::string& folder, const ExecRequest& request) {
  if (request.command.empty() || request.command[0].empty())
    return make_error(Code::kInvalid, "you must specify at least 1 command for the container");
  const bool contained = ::access((folder + "/config.json").c_str(), F_OK) == 0;
  const std::string files = folder + "/exec-" + rt::secure_token(8);
  TRY(const ExecLaunch launch,
      contained ? by_runtime(runc, runtime_state, folder, files, request) : beside_process(folder, request));
  auto process = launch_exec(launch);
  if (!process.ok()) {
    ::unlink((files + ".json").c_str());
    return process.take_error();
  }
  std::unique_ptr<PodExec> exec(new PodExec(std::move(*process), files, contained));
  if (const pid_t main_pid = described_process(read_text(folder + "/pid")); main_pid != 0)
    exec->container_ = static_cast<int>(::syscall(SYS_pidfd_open, main_pid, 0));
  return exec;
}

PodExec::~PodExec() {
  if (container_ >= 0) ::close(container_);
  for (const char* end : {".json", ".log", ".pid"}) ::unlink((files_ + end).c_str());
}

bool PodExec::has_begun() const { return !by_runtime_ || ::access((files_ + ".pid").c_str(), F_OK) == 0; }

void PodExec::kill() const {
  // The runtime's child is the process in the container. It stays its child until the runtime has seen its end.
  if (by_runtime_)
    for (const pid_t child : children_of(process_.pid)) ::kill(child, SIGKILL);
  else
    ::kill(-process_.pid, SIGKILL);
  // A runtime that has not come to the process yet, or whose process does not end.
  if (by_runtime_ && !has_begun()) ::kill(process_.pid, SIGKILL);
}

base::Result<int> PodExec::end() {
  const int code = process_.exit_code();
  if (has_begun()) return code;
  const auto log = rt::read_rooted_tail(
      {files_.substr(0, files_.rfind('/')), files_.substr(files_.rfind('/') + 1) + ".log"}, kRuntimeLogMax);
  std::string reason = log.ok() ? reason_in_runtime_log(*log) : std::string();
  if (reason.empty()) reason = base::format("the runtime ended with exit code {}", code);
  return make_error(Code::kInternal, "OCI runtime exec failed: " + reason);
}

}  // namespace node
