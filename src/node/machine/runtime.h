// The agent's requests to the machine: pods' surroundings, images, processes. One implementation starts real processes
// (os/), tests and simulation have others.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "api/pod_streams.h"
#include "base/result.h"
#include "base/time.h"
#include "node/machine/amounts.h"
#include "node/machine/device_grant.h"
#include "node/machine/node_network.h"

namespace node {

struct MountSpec {
  std::string source;  // a path of the host
  std::string target;  // a path of the container
  bool read_only = false;
  enum class Recursion : std::uint8_t { kNone, kIfPossible, kAlways };
  Recursion read_only_below = Recursion::kNone;  // what is mounted below is read-only, too
  enum class Propagation : std::uint8_t { kNone, kIn, kBoth };
  Propagation propagation = Propagation::kNone;  // of mounts that are made below later
};

// A file that a volume consists of. Content comes with it, because only the agent may read secrets.
struct FileSpec {
  std::string path;  // relative to the volume
  std::string content;
  int mode = 0644;
};

struct VolumeSpec {
  enum class Kind : std::uint8_t { kEmptyDir, kHostPath, kFiles };

  std::string name;
  Kind kind = Kind::kEmptyDir;
  bool memory = false;                // emptyDir on tmpfs
  std::int64_t huge_page_bytes = 0;   // emptyDir of pages of this size; 0: of none
  std::int64_t bytes_max = 0;         // of it; 0: no limit
  std::string host_path;              // kHostPath
  std::string host_type;              // "", DirectoryOrCreate, Directory, FileOrCreate, File, Socket, ...
  std::vector<FileSpec> files;        // kFiles
  std::optional<std::int64_t> group;  // fsGroup; of kHostPath only where the folder is the claim's own
  bool group_on_mismatch = false;     // fsGroupChangePolicy: a root that has the group already is left as it is
  bool open_to_all = false;           // kHostPath: a folder that is made here can be written by everybody
};

struct SandboxSpec {
  std::string uid;
  std::string ns;
  std::string name;
  std::string hostname;
  std::string fqdn;  // in /etc/hosts; empty without a subdomain
  bool set_hostname_as_fqdn = false;
  bool host_users = true;  // false: ids of its own, in a user namespace
  bool host_network = false;
  bool host_pid = false;
  bool host_ipc = false;
  bool share_processes = false;
  std::vector<std::pair<std::string, std::vector<std::string>>> host_aliases;  // ip, names
  std::string resolv_conf;                                                     // empty: the host's (dnsPolicy Default)
  std::vector<VolumeSpec> volumes;
  std::int64_t cpu_request_milli = 0;
  std::int64_t cpu_limit_milli = 0;     // of all containers together; 0: one of them has none
  std::int64_t memory_limit_bytes = 0;  // the same
  std::string address;                  // had before, if it was
  std::string handler;                  // of its RuntimeClass; empty: the usual one
  // By container, where it is not 0: the attempt that is the first one in this sandbox.
  std::map<std::string, int> first_attempts = {};
};

// Processes that have the first score get the second.
struct OomScores {
  int before = 0;
  int after = 0;
};

struct ContainerResize {
  std::string name;
  std::string id;
  PodAmounts amounts;
  OomScores oom_score = {};
};
// The wanted limits of a pod's control group and of some of its containers, which run.
struct PodResize {
  std::string pod_uid;
  PodAmounts pod;
  std::vector<ContainerResize> containers;
};

// A profile that confines a container: the runtime's, none, or one of the machine's by its name.
struct Confinement {
  enum class Kind : std::uint8_t { kDefault, kNone, kNamed };

  Kind kind = Kind::kDefault;
  std::string name = {};
};

struct ContainerSpec {
  std::string pod_uid;
  std::string name;
  int attempt = 0;
  std::string id;
  std::string target_id;  // of the container whose processes this one sees; empty: those of its own
  std::string image;
  std::vector<std::string> command;  // replaces the image's entrypoint; empty: the image's
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string working_directory;  // empty: the image's
  std::vector<MountSpec> mounts;  // `source` may begin with "volume:NAME/" for a volume of the pod
  std::optional<std::int64_t> user;
  std::optional<std::int64_t> group;
  std::vector<std::int64_t> extra_groups;
  bool image_groups = true;  // and those that the image's group file gives the user
  bool must_not_be_root = false;
  bool privileged = false;
  bool no_new_privileges = false;
  bool read_only_root = false;
  bool unmasked_proc = false;
  int stop_signal = 0;  // asks it to end; 0: the image's, or SIGTERM
  bool terminal = false;
  bool input = false;       // it reads what those who attach to it write
  bool input_once = false;  // and its input ends with the first of them
  std::vector<std::string> capabilities_added;
  std::vector<std::string> capabilities_dropped;
  Confinement seccomp;
  Confinement apparmor;
  std::vector<std::pair<std::string, std::string>> sysctls;
  std::int64_t cpu_request_milli = 0;
  std::int64_t cpu_limit_milli = 0;     // 0: none
  std::int64_t memory_limit_bytes = 0;  // 0: none
  // By size of page as OCI names it ("2MB"), of all sizes that the machine has pages of: the most bytes.
  std::vector<std::pair<std::string, std::int64_t>> huge_page_limits = {};
  int oom_score_adjustment = 0;
  std::string termination_message_path;
  DeviceGrant devices = {};                                // what it gets besides, and the spec does not say
  std::shared_ptr<const std::atomic<bool>> given_up = {};  // once true, a start that takes long is not waited for
};

struct StartedContainer {
  base::Time started;
};

struct ExitedContainer {
  std::string id;
  int exit_code = 0;
  bool out_of_memory = false;
  base::Time finished;
};

struct RecoveredContainer {
  std::string name;
  int attempt = 0;
  std::string id;
  bool started = false;
  bool running = false;
  base::Time started_at;
  base::Time finished_at;
  int exit_code = 0;
  bool out_of_memory = false;
  bool lost = false;  // neither running nor did anybody see its end
};

struct RecoveredPod {
  std::string uid;
  std::string ns;
  std::string name;
  std::string ip;
  bool prepared = false;                       // its sandbox is there as a whole
  std::map<std::string, int> first_attempts;   // see SandboxSpec
  std::vector<RecoveredContainer> containers;  // every attempt, in order of name and attempt
};

enum class PullPolicy : std::uint8_t { kAlways, kIfNotPresent, kNever };

struct ImageRequest {
  std::string image;
  PullPolicy policy = PullPolicy::kIfNotPresent;
  std::string keys = {};                                   // what registries are shown, see registry_keys()
  std::shared_ptr<const std::atomic<bool>> given_up = {};  // once true, nobody waits for the image any more
};

struct ImageAnswer {
  std::string id;
  bool pulled = false;  // false: it was there
  std::int64_t bytes = 0;
  std::string remark = {};  // said instead of "already present", where that would not be the truth
};

// The places that are measured of a pod: its volumes of this machine's disk, and the containers that run.
struct DiskPlaces {
  std::string pod_uid;
  std::vector<std::string> volumes;                          // by name
  std::vector<std::pair<std::string, int>> containers = {};  // that run: name and attempt
  std::vector<std::string> all_containers = {};              // by name, also those that have ended
  bool whole = true;                                         // false: `given` is all that is asked
};
// Bytes by name; of containers, what they changed of their image, their logs and their termination message. A place
// that could not be read is missing.
struct DiskUse {
  std::map<std::string, std::int64_t> volumes;
  std::map<std::string, std::int64_t> containers;
  // Logs and termination messages of runs that have ended, and the pod's /etc/hosts, /etc/hostname and
  // /etc/resolv.conf.
  std::int64_t others = 0;
  // Files that the node gives to every container, and that it can write: the three of the pod, and all termination
  // messages. They are parts of the numbers above.
  std::int64_t given = 0;
};

// Methods marked "blocking" run off the loop, several at a time (never two for one pod or one container).
class Runtime {
 public:
  using OnExit = std::function<void(ExitedContainer)>;

  virtual ~Runtime() = default;

  // Before anything else; blocking. `on_exit` may be called from any thread, also for ends that are old news.
  virtual base::Result<std::vector<RecoveredPod>> open(OnExit on_exit) = 0;
  // Why this pod cannot run here, or nothing. Quick and pure.
  virtual std::optional<std::string> refusal(const api::Json& pod) const = 0;
  virtual bool image_present(const std::string& image) const = 0;
  // Whether ensure_image() would ask a registry, which can take minutes.
  virtual bool would_pull(const std::string& image, PullPolicy policy) const {
    return policy != PullPolicy::kNever && !image_present(image);
  }
  // Blocking. Errors: kNotFound "ErrImageNeverPull", kInvalid "InvalidImageName", others "ErrImagePull".
  virtual base::Result<ImageAnswer> ensure_image(const ImageRequest& request) = 0;
  // Blocking; gives the pod's address. May be called again after a failure or a restart of the agent.
  virtual base::Result<std::string> prepare(const SandboxSpec& spec) = 0;
  // Blocking: rewrites the files of one volume in place, atomically for readers.
  virtual base::Status update_volume(const std::string& pod_uid, const VolumeSpec& volume) = 0;
  // Blocking, for as long as there are files; ends early once `cancelled`. May run beside anything else.
  virtual DiskUse disk_use(const DiskPlaces&, const std::atomic<bool>& /*cancelled*/) { return {}; }
  // The files of a pod's containers at this moment: the facts, whatever was told before. Quick.
  virtual std::vector<RecoveredContainer> containers_of(const std::string& pod_uid) const = 0;
  // Blocking. kForbidden: the pod's own rules are against it; nothing was started, and the container waits. kGone: the
  // pod's sandbox is not there as a whole any more; nothing was started.
  virtual base::Result<StartedContainer> start(const ContainerSpec& spec) = 0;
  // Why what runs cannot be resized here, and is not held to limits, or nothing. Quick and pure.
  virtual std::optional<std::string> no_resize() const { return "the runtime of this node cannot resize containers"; }
  // Blocking. An error may leave a part of it done; the next call mends that.
  virtual base::Status resize(const PodResize&) { return base::make_error(base::Code::kUnavailable, *no_resize()); }
  // The part of these `resources`, which the container was told, that it has, as the machine says. Quick.
  virtual api::Json actual_resources(const std::string& /*pod_uid*/, const std::string& /*container_id*/,
                                     const api::Json& reported) const {
    return reported;
  }
  // Quick. SIGTERM stands for the container's own stop signal. A process that is gone already is not an error.
  virtual void signal(const std::string& pod_uid, const std::string& container_id, int signal) = 0;
  // Blocking, idempotent: kills what still runs, takes away network, mounts and volumes. `logs_too`: the pod's folder.
  virtual void remove(const std::string& pod_uid, bool logs_too) = 0;
  // The end of the container's message file; `or_log`: else the end of its output. Any bytes. Quick.
  virtual std::string termination_message(const std::string& pod_uid, const std::string& container_id,
                                          bool or_log) const = 0;
  // Blocking: takes away what belongs to the machine as a whole (bridge, cgroup), when no pod is left.
  virtual void close(bool leave_pods) = 0;
  // The network of the machine, as pods see it.
  virtual NodeNetwork& network() { return no_network_; }
  // Into this runtime's pods, for the agent's own use; null: there is no way in.
  virtual std::unique_ptr<api::PodStreams> streams() const { return nullptr; }
  // The values of SandboxSpec::handler, besides empty; shown in the node's status.
  virtual std::vector<std::string> handlers() const { return {}; }
  // "process" or "runc"; shown in the node's status.
  virtual std::string name() const = 0;

 private:
  NodeNetwork no_network_;
};

}  // namespace node
