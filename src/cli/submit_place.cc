// The machine is asked whether it is the cluster's only node; the person's own rights on its folders decide.
#include "cli/submit_place.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "cli/table.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

struct Machine {
  bool is_here = false;         // the person sits at the cluster's only node
  bool has_host_files = false;  // its root file system stands in for images
  bool has_processes = false;   // pods are plain processes, which see all files anyway
};

// A cluster that has just begun has its node a moment later.
base::Result<std::vector<Json>> list_nodes(Api& server) {
  TRY(std::vector<Json> nodes, list(server, resources::kNodes, ""));
  if (!nodes.empty()) return nodes;
  const int stream = server.follow({.resource = resources::kNodes});
  Happening news;
  do {
    news = server.next(base::seconds(5));
  } while (news.kind == Happening::Kind::kCurrent);
  server.stop(stream);
  return list(server, resources::kNodes, "");
}

// An account that may not look at nodes gets no folder by default.
Machine look_at_machine(const Person& person, Api& server) {
  Machine machine;
  const auto nodes = list_nodes(server);
  if (!nodes.ok() || nodes->size() != 1 || person.boot_id.empty()) return machine;
  const Json& info = nodes->front()["status"]["nodeInfo"];
  machine.is_here = info["bootID"].as_string() == person.boot_id;
  machine.has_host_files = api::annotation_of(nodes->front(), "volcano.sh/host-rootfs") == "true";
  machine.has_processes = info["containerRuntimeVersion"].as_string().starts_with("process");
  return machine;
}

// Pod Security of the namespace may refuse folders of the machine to all pods.
bool allows_folders(Api& server, const std::string& ns) {
  const auto space = get(server, resources::kNamespaces, "", ns);
  if (!space.ok()) return true;
  const std::string_view level = api::label_of(*space, "pod-security.kubernetes.io/enforce");
  return level.empty() || level == "privileged";
}

std::string absolute(const std::string& path, const Person& person) {
  return path.starts_with('/') ? path : base::format("{}/{}", person.folder, path);
}

base::Error elsewhere(std::string_view flag) {
  return usage_error(
      base::format("--{}: the folders of this machine cannot be mounted, because it is not the cluster's only node "
                   "(or you may not list nodes)",
                   flag));
}

// HOST:POD, or HOST:POD:ro.
base::Result<Mount> parse_volume(const std::string& text, World& world, const Person& person) {
  Mount mount;
  std::string rest = text;
  if (rest.ends_with(":ro")) {
    mount.is_read_only = true;
    rest.resize(rest.size() - 3);
  }
  const std::size_t colon = rest.find(':');
  mount.pod = colon == std::string::npos ? "" : rest.substr(colon + 1);
  if (colon == 0 || !mount.pod.starts_with('/') || mount.pod.find(':') != std::string::npos)
    return usage_error(
        base::format("--volume {}: expected HOST:POD or HOST:POD:ro, and an absolute path for POD", text));
  auto real = world.own_folder(absolute(rest.substr(0, colon), person), !mount.is_read_only);
  if (!real.ok()) return usage_error(base::format("--volume {}: {}", text, real.error().message));
  mount.host = *std::move(real);
  return mount;
}

base::Status add_volumes(World& world, const Values& values, const Machine& machine, const Person& person,
                         Place& place) {
  for (const std::string& text : values.list("volume")) {
    if (!machine.is_here) return elsewhere("volume");
    if (machine.has_processes)
      return usage_error(base::format(
          "--volume {}: pods are plain processes on this machine and have no volumes; they see its files as they are",
          text));
    TRY(Mount mount, parse_volume(text, world, person));
    place.mounts.push_back(std::move(mount));
    place.is_own = true;
  }
  return {};
}

// The folder is mounted under its own path, so that paths in arguments and messages hold.
void work_in(const std::string& folder, const Machine& machine, Place& place) {
  place.folder = folder;
  place.is_own = place.keeps_output = true;
  place.has_home = machine.has_host_files;
  place.sees_all = machine.has_processes;
  const bool is_taken = std::ranges::any_of(place.mounts, [&](const Mount& one) { return one.pod == folder; });
  if (!machine.has_processes && !is_taken && folder != "/") place.mounts.push_back({.host = folder, .pod = folder});
}

}  // namespace

base::Result<Place> find_place(World& world, Api& server, const Values& values) {
  Place place;
  if (!world.person) return place;
  const Person person = world.person();
  const Machine machine = look_at_machine(person, server);
  TRY_VOID(add_volumes(world, values, machine, person, place));
  if (const std::string& asked = values.text("chdir"); !asked.empty()) {
    const auto inside = [&asked](const Mount& one) { return asked == one.pod || asked.starts_with(one.pod + "/"); };
    if (std::ranges::any_of(place.mounts, inside)) {
      place.folder = asked;
      place.keeps_output = true;
    } else if (!machine.is_here) {
      place.folder = asked;  // a folder of the image
    } else {
      auto real = world.own_folder(absolute(asked, person), true);
      if (!real.ok()) return usage_error(base::format("--chdir {}: {}", asked, real.error().message));
      work_in(*real, machine, place);
    }
    return place;
  }
  if (!machine.is_here) return place;
  if (!machine.has_host_files) {
    if (place.mounts.empty())
      place.remark =
          "its files stay in the pod: --chdir . works here and keeps them, --volume HOST:POD mounts a folder";
    return place;
  }
  auto real = world.own_folder(person.folder, true);
  if (!real.ok())
    place.remark = base::format("it does not work in this folder, which you may not write: {}", real.error().message);
  else if (!allows_folders(server, values.text("namespace")))
    place.remark = base::format("it does not work in this folder: Pod Security of namespace {} forbids it",
                                values.text("namespace"));
  else
    work_in(*real, machine, place);
  return place;
}

base::Status see_output(World& world, std::string& output, Place& place) {
  if (!place.keeps_output || !(output.starts_with('/') || output.starts_with("../"))) return {};
  const std::size_t slash = output.rfind('/');
  const auto is_inside = [](const std::string& path, const std::string& folder) {
    return path == folder || path.starts_with(folder == "/" ? folder : folder + "/");
  };
  const std::string folder = slash == 0 ? "/" : output.substr(0, slash);
  if (std::ranges::any_of(place.mounts, [&](const Mount& one) { return is_inside(folder, one.pod); })) return {};
  auto real = world.own_folder(folder.starts_with('/') ? folder : base::format("{}/{}", place.folder, folder), true);
  if (!real.ok()) return usage_error(base::format("--output {}: {}", output, real.error().message));
  output = base::format("{}/{}", *real == "/" ? "" : *real, output.substr(slash + 1));
  const bool is_seen = std::ranges::any_of(place.mounts, [&](const Mount& one) { return is_inside(*real, one.pod); });
  if (!is_seen && !place.sees_all) place.mounts.push_back({.host = *real, .pod = *real});
  return {};
}

void set_place(const Place& place, const Person& person, Json& pod) {
  Json& spec = pod.edit("spec");
  Json container = spec["containers"][std::size_t{0}];
  Json volumes = Json::array(), mounts = Json::array();
  for (const Mount& mount : place.mounts) {
    const std::string name = base::format("folder-{}", volumes.size());
    volumes.push_back(
        Json::object({{"name", name}, {"hostPath", Json::object({{"path", mount.host}, {"type", "Directory"}})}}));
    Json use = Json::object({{"name", name}, {"mountPath", mount.pod}});
    if (mount.is_read_only) use.set("readOnly", true);
    mounts.push_back(std::move(use));
  }
  if (!volumes.empty()) {
    spec.set("volumes", std::move(volumes));
    container.set("volumeMounts", std::move(mounts));
  }
  if (!place.folder.empty()) container.set("workingDir", place.folder);
  // Files of the run are the person's, and what the person may not read or write the run may not either.
  if (place.is_own && person.uid != 0) {
    container.set(
        "securityContext",
        Json::object({{"runAsUser", person.uid}, {"runAsGroup", person.gid}, {"allowPrivilegeEscalation", false}}));
    Json groups = Json::array();
    for (const std::int64_t group : person.groups)
      if (group != person.gid) groups.push_back(group);
    if (!groups.empty() && !place.mounts.empty())
      spec.set("securityContext", Json::object({{"supplementalGroups", std::move(groups)}}));
  }
  spec.set("containers", Json::array({std::move(container)}));
}

}  // namespace cli
