// Streams into pods: a thread each, which ends with its stream.
#include "api/pod_streams.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <set>
#include <system_error>
#include <thread>

#include "api/json/json.h"
#include "base/format.h"
#include "node/machine/machine.h"
#include "node/os/command.h"
#include "node/os/pod_folders.h"
#include "node/os/proc.h"
#include "node/os/streams/exec_turns.h"
#include "node/os/streams/pod_exec.h"
#include "node/os/streams/stream_pump.h"

namespace node {

using base::Code;
using base::make_error;

namespace {

// A thread each. The API server's own limits (apiserver/pipeline/rights/stream_shares.h) are below; a stream counts
// here a little longer.
constexpr std::size_t kStreamsMax = 320;
constexpr std::size_t kConnectionsMax = 256;
constexpr int kConnectMs = 10'000;
constexpr auto kTurnMax = std::chrono::seconds(10);  // a runtime that hangs holds up others for no longer
constexpr auto kEndTime = std::chrono::seconds(5);   // for streams, when all are to end

struct Fd {
  int fd = -1;
  explicit Fd(int of = -1) : fd(of) {}
  ~Fd() {
    if (fd >= 0) ::close(fd);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
};

base::Error failed(const std::string& what) {
  return make_error(Code::kInternal, base::format("{}: {}", what, std::strerror(errno)));
}

// Whether a uid that somebody else wrote down is one: it becomes a part of a path.
bool names_a_folder(const std::string& uid) {
  return !uid.empty() && uid.size() <= 255 && uid.find('/') == std::string::npos && uid != "." && uid != "..";
}

// The streams that are open. Threads outlive their maker only when something in the kernel does not end.
class Open {
 public:
  bool add(const std::shared_ptr<StreamPump>& pump, std::size_t most) {
    const std::lock_guard lock(mutex_);
    return !closing_ && pumps_.size() < most && pumps_.insert(pump).second;
  }
  void remove(const std::shared_ptr<StreamPump>& pump) {
    const std::lock_guard lock(mutex_);
    pumps_.erase(pump);
    changed_.notify_all();
  }
  void end_all() {
    std::unique_lock lock(mutex_);
    closing_ = true;
    for (const auto& pump : pumps_) pump->end();
    changed_.wait_for(lock, kEndTime, [this] { return pumps_.empty(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::shared_ptr<StreamPump>> pumps_;
  bool closing_ = false;
};

struct ExecMeans {
  std::string runc;
  PodFolders folders;
  std::shared_ptr<ExecTurns> turns;
  ExecTurns::Who who;
};

base::Result<int> run_exec(StreamPump& pump, const ExecMeans& means, const std::string& uid,
                           const api::ExecOptions& options) {
  const PodFolders& folders = means.folders;
  ExecTurns::Turn turn = means.turns->wait(means.who, [&pump] { return pump.is_ended(); });
  if (!turn)
    return make_error(Code::kTooManyRequests,
                      "too many commands are being started on this node, please try again later");
  TRY(const std::string folder, running_container(folders, uid, options.container));
  TRY(const auto exec,
      PodExec::start(means.runc, folders.runtime_state(), folder, {options.command, options.input, options.terminal}));
  ExecProcess& process = exec->process();
  StreamEnds ends;
  ends.input = options.input || options.terminal ? process.input : -1;
  for (int i = 0; i < 2; ++i) ends.outputs[i] = process.outputs[i];
  ends.ended = process.ended;
  ends.owner_ended = exec->container_ended();
  // The end of what is typed is a key: a terminal stays open.
  if (!options.terminal) ends.close_input = [&process] { process.close_input(); };
  if (options.terminal)
    ends.resize = [&process](int columns, int rows) { set_terminal_size(process.outputs[0], columns, rows); };
  ends.kill = [&exec] { exec->kill(); };
  ends.may_begin = [&exec, &turn, late = std::chrono::steady_clock::now() + kTurnMax] {
    const bool begun = exec->has_begun();
    if (begun || std::chrono::steady_clock::now() > late) turn.reset();
    return begun;
  };
  pump.run(ends);
  turn.reset();
  return exec->end();
}

// Paths of sockets are short; folders need not be.
int connect_unix(const std::string& folder, const std::string& name, Fd& socket_fd) {
  const Fd at(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  socket_fd.fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (at.fd < 0 || socket_fd.fd < 0) return -1;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  const std::string path = base::format("/proc/self/fd/{}/{}", at.fd, name);
  path.copy(to.sun_path, sizeof to.sun_path - 1);
  return ::connect(socket_fd.fd, reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

// The monitor of a container hands its output to whoever is connected, and takes its input from them.
base::Result<int> run_attach(StreamPump& pump, const PodFolders& folders, const std::string& uid,
                             const api::ExecOptions& options) {
  TRY(const std::string folder, running_container(folders, uid, options.container));
  if (::access((folder + "/config.json").c_str(), F_OK) != 0)
    return make_error(Code::kInvalid, "plain processes have nothing to attach to (this needs root and runc)");
  Fd socket_fd;
  if (connect_unix(folder, "attach", socket_fd) != 0) return failed("attach");
  const Fd control(::open((folder + "/ctl").c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
  const pid_t main_pid = described_process(read_text(folder + "/pid"));
  const Fd container(main_pid == 0 ? -1 : static_cast<int>(::syscall(SYS_pidfd_open, main_pid, 0)));
  StreamEnds ends;
  ends.input = options.input ? socket_fd.fd : -1;
  ends.outputs[0] = socket_fd.fd;
  ends.packets = true;
  ends.ended = container.fd;
  ends.close_input = [&socket_fd] { ::shutdown(socket_fd.fd, SHUT_WR); };
  ends.resize = [&control](int columns, int rows) {
    const std::string line = base::format("1 {} {}\n", rows, columns);
    if (::write(control.fd, line.data(), line.size()) < 0) return;  // the size stays as it is
  };
  pump.run(ends);
  return 0;
}

// This thread goes where the pod's loopback is, and does not come back. A pod that is being taken down has lost its
// network; the host's is only for those that have it.
base::Status enter_network(const PodFolders& folders, const std::string& uid, bool has_own) {
  if (!has_own) return {};
  const std::string path = folders.pod(uid) + "/netns";
  const Fd network(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (network.fd < 0 && errno == ENOENT) return make_error(Code::kUnavailable, "the pod's network is gone");
  if (network.fd < 0 || ::setns(network.fd, CLONE_NEWNET) != 0) return failed("cannot enter the pod's network");
  return {};
}

base::Status connect_tcp(const sockaddr* to, socklen_t size, Fd& socket_fd) {
  socket_fd.fd = ::socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_fd.fd < 0) return failed("socket");
  if (::connect(socket_fd.fd, to, size) == 0) return {};
  if (errno != EINPROGRESS) return failed("connect");
  pollfd wait{socket_fd.fd, POLLOUT, 0};
  if (::poll(&wait, 1, kConnectMs) <= 0) return make_error(Code::kTimeout, "connect: nothing answers");
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket_fd.fd, SOL_SOCKET, SO_ERROR, &error, &length);
  errno = error;
  return error == 0 ? base::Status() : failed("connect");
}

base::Status connect_loopback(int port, Fd& socket_fd) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(static_cast<std::uint16_t>(port));
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  base::Status connected = connect_tcp(reinterpret_cast<const sockaddr*>(&four), sizeof four, socket_fd);
  if (connected.ok()) return connected;
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = four.sin_port;
  six.sin6_addr = in6addr_loopback;
  Fd other;
  if (!connect_tcp(reinterpret_cast<const sockaddr*>(&six), sizeof six, other).ok()) return connected;
  std::swap(socket_fd.fd, other.fd);
  return {};
}

base::Result<int> run_connect(StreamPump& pump, const PodFolders& folders, const std::string& uid, int port,
                              bool containers) {
  const auto pod = api::parse_json(read_text(folders.pod(uid) + "/pod.json"));
  if (!pod.ok() || !pod->is_object()) return make_error(Code::kNotFound, "the pod is not on this node");
  TRY_VOID(enter_network(folders, uid, containers && !(*pod)["hostNetwork"].as_bool()));
  Fd socket_fd;
  const base::Status connected = connect_loopback(port, socket_fd);
  if (!connected.ok())
    return base::within(connected.error(), base::format("failed to connect to localhost:{} inside the pod", port));
  StreamEnds ends;
  ends.input = ends.outputs[0] = socket_fd.fd;
  ends.close_input = [&socket_fd] { ::shutdown(socket_fd.fd, SHUT_WR); };
  pump.run(ends);
  return 0;
}

class FolderStreams : public api::PodStreams {
 public:
  FolderStreams(ExecMeans means, bool containers)
      : folders_(means.folders), means_(std::move(means)), containers_(containers), open_(std::make_shared<Open>()) {}
  ~FolderStreams() override { open_->end_all(); }

  Opened exec(const std::string& uid, api::ExecOptions options, api::PodStreamEvents events) override {
    return begin(uid, kStreamsMax, std::move(events),
                 [means = means_, uid, options = std::move(options)](StreamPump& pump) {
                   return run_exec(pump, means, uid, options);
                 });
  }
  Opened attach(const std::string& uid, api::ExecOptions options, api::PodStreamEvents events) override {
    return begin(uid, kStreamsMax, std::move(events),
                 [folders = folders_, uid, options = std::move(options)](StreamPump& pump) {
                   return run_attach(pump, folders, uid, options);
                 });
  }
  Opened connect(const std::string& uid, int port, api::PodStreamEvents events) override {
    if (port < 1 || port > 65535) return make_error(Code::kInvalid, base::format("{} is not a port", port));
    return begin(uid, kConnectionsMax, std::move(events),
                 [folders = folders_, uid, port, containers = containers_](StreamPump& pump) {
                   return run_connect(pump, folders, uid, port, containers);
                 });
  }

 private:
  Opened begin(const std::string& uid, std::size_t most, api::PodStreamEvents events,
               std::function<base::Result<int>(StreamPump&)> run) {
    if (!names_a_folder(uid)) return make_error(Code::kNotFound, "the pod is not on this node");
    auto pump = std::make_shared<StreamPump>(std::move(events));
    if (!open_->add(pump, most))
      return make_error(Code::kTooManyRequests,
                        base::format("{} streams into pods are open, please try again later", most));
    try {
      std::thread([pump, open = open_, run = std::move(run)] {
        pump->finish(run(*pump));
        open->remove(pump);
      }).detach();
    } catch (const std::system_error&) {
      open_->remove(pump);
      return make_error(Code::kTooManyRequests, "no thread is free, please try again later");
    }
    return std::shared_ptr<api::PodStream>(pump);
  }

  PodFolders folders_;
  const ExecMeans means_;
  const bool containers_;
  std::shared_ptr<Open> open_;
};

}  // namespace

std::shared_ptr<ExecTurns> make_exec_turns(base::Metrics* metrics) {
  return std::make_shared<ExecTurns>(ExecTurns::Limits(), metrics);
}

std::unique_ptr<api::PodStreams> make_pod_streams(const Options& options, bool for_users) {
  const bool containers = options.mode != Mode::kProcess && missing_for_containers(options).empty();
  ExecMeans means{find_program(options.runc), PodFolders(options.data_dir),
                  options.exec_turns ? options.exec_turns : make_exec_turns(nullptr),
                  for_users ? ExecTurns::Who::kUser : ExecTurns::Who::kNode};
  return std::make_unique<FolderStreams>(std::move(means), containers);
}

}  // namespace node
