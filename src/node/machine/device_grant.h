// The additions to a container's spec because of its devices: names of things of the host. Values.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace node {

struct DeviceNode {
  std::string host_path;           // "/dev/nvidia0"
  std::string container_path;      // the same, mostly
  std::string permissions = "rw";  // of r, w, m

  bool operator==(const DeviceNode&) const = default;
};

struct DeviceMount {
  std::string source;
  std::string target;
  bool read_only = true;

  bool operator==(const DeviceMount&) const = default;
};

// A program of the host that the runtime runs while it makes the container.
struct DeviceHook {
  std::string name;  // createContainer, ...: as OCI names them
  std::string path;
  std::vector<std::string> arguments = {};
  std::vector<std::string> environment = {};
  int timeout_seconds = 0;  // 0: none

  bool operator==(const DeviceHook&) const = default;
};

struct DeviceGrant {
  std::vector<std::pair<std::string, std::string>> environment = {};  // the pod's own variables win
  std::vector<DeviceNode> nodes = {};
  std::vector<DeviceMount> mounts = {};
  std::vector<DeviceHook> hooks = {};
  std::vector<std::string> library_folders = {};  // of the container: end of LD_LIBRARY_PATH
  std::vector<std::string> program_folders = {};  // of the container: end of PATH
  bool unlimited_memlock = false;

  bool operator==(const DeviceGrant&) const = default;
  bool empty() const { return *this == DeviceGrant{}; }
  // Adds what `other` has; of variables and paths that both have the first stays.
  void add(const DeviceGrant& other);
};

// Its users lock the memory that they register.
bool has_infiniband(const DeviceGrant& grant);

api::Json to_json(const DeviceGrant& grant);
// Reads a file of our own: what is malformed is left out.
DeviceGrant grant_from(const api::Json& json);

}  // namespace node
