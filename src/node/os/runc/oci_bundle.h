// The OCI runtime configuration of one container. Pure.
#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "node/machine/runtime.h"
#include "node/os/runc/device_nodes.h"
#include "node/os/runc/privileges.h"

namespace node {

// An image's configuration of its containers.
struct ImageConfig {
  std::vector<std::string> entrypoint;
  std::vector<std::string> command;
  std::vector<std::string> environment;  // NAME=value
  std::string working_directory;
  std::string stop_signal;
  std::string user;  // "uid", "uid:gid", "name", "name:group"; empty: root
};
ImageConfig image_config_from(const api::Json& json);  // of an OCI image configuration

struct UserIds {
  std::int64_t uid = 0;
  std::int64_t gid = 0;
  std::string home = "/";
  std::vector<std::int64_t> groups = {};  // more of them, from the group file
};
// `passwd` and `groups` are the texts of the root file system's files.
base::Result<UserIds> resolve_user(const ContainerSpec& spec, const ImageConfig& image, const std::string& passwd,
                                   const std::string& groups);

struct BundleInput {
  const ContainerSpec* spec = nullptr;
  ImageConfig image;
  UserIds user;
  std::string root;  // the root file system's path
  std::string hostname;
  std::string network_namespace;  // a path; empty: the host's
  std::string ipc_namespace;      // the same
  bool own_ipc = false;           // without a path: one of the container's own
  bool host_pid = false;
  std::string pid_namespace;       // a path; empty: one of the container's own, unless it is the host's
  std::string user_namespace;      // a path; empty: the host's
  std::int64_t first_id = 0;       // of the host's ids, in a user namespace
  Privileges privileges;           // what there is to give on
  api::Json seccomp;               // a profile of the machine's; null: what the spec says otherwise
  std::string apparmor_profile;    // empty: none
  std::string cgroup_path;         // below each hierarchy
  bool limits_huge_pages = false;  // the machine's control groups can
  bool unified_cgroups = false;    // they are v2
  std::vector<MountSpec> mounts;   // sources resolved
  std::vector<OciDevice> devices;
};
// An error when neither the pod nor the image says what to run, or the user has ids that the user namespace lacks.
base::Result<api::Json> make_bundle(const BundleInput& input);

}  // namespace node
