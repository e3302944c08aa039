// Their form.
#include "node/devices/device_facts.h"

#include <unistd.h>

#include "node/os/pod_folders.h"
#include "rt/files/files.h"

namespace node {

using api::Json;

namespace {

constexpr std::string_view kEnd = ".json";

std::string path_of(const std::string& folder, const std::string& uid) {
  return folder + "/" + uid + std::string(kEnd);
}

}  // namespace

base::Status write_held(const std::string& folder, const HeldPod& pod) {
  Json containers = Json::array();
  for (const HeldContainer& container : pod.containers) {
    Json resources = Json::object();
    for (const auto& [resource, ids] : container.devices.ids) {
      Json list = Json::array();
      for (const std::string& id : ids) list.push_back(id);
      resources.set(resource, list);
    }
    containers.push_back(Json::object(
        {{"name", container.devices.container}, {"devices", resources}, {"grant", to_json(container.grant)}}));
  }
  TRY_VOID(rt::make_folders(folder, 0700));
  return rt::write_file(path_of(folder, pod.uid), Json::object({{"containers", containers}}).dump(), 0600);
}

void erase_held(const std::string& folder, const std::string& uid) { ::unlink(path_of(folder, uid).c_str()); }

std::vector<HeldPod> read_held(const std::string& folder) {
  std::vector<HeldPod> pods;
  for (const std::string& name : list_folder(folder)) {
    if (!name.ends_with(kEnd)) continue;
    const auto json = api::parse_json(read_text(folder + "/" + name));
    if (!json.ok()) continue;
    HeldPod& pod = pods.emplace_back(HeldPod{name.substr(0, name.size() - kEnd.size()), {}});
    for (const Json& one : (*json)["containers"].items()) {
      HeldContainer& container = pod.containers.emplace_back();
      container.devices.container = one["name"].str();
      for (const Json::Member& member : one["devices"].members())
        for (const Json& id : member.value.items())
          container.devices.ids[std::string(member.name())].push_back(id.str());
      container.grant = grant_from(one["grant"]);
    }
  }
  return pods;
}

}  // namespace node
