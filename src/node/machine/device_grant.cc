// Joining grants, and their form on disk.
#include "node/machine/device_grant.h"

#include <algorithm>
#include <functional>
#include <set>

namespace node {

using api::Json;

namespace {

// Adds the entries of `from` whose key is not in `to`.
template <class T, class Key>
void add_new(std::vector<T>& to, const std::vector<T>& from, Key key) {
  if (from.empty()) return;
  std::set<std::string> known;
  for (const T& one : to) known.insert(std::invoke(key, one));
  for (const T& one : from)
    if (known.insert(std::invoke(key, one)).second) to.push_back(one);
}

// The lists are short.
void add_hooks(std::vector<DeviceHook>& to, const std::vector<DeviceHook>& from) {
  for (const DeviceHook& one : from)
    if (std::ranges::find(to, one) == to.end()) to.push_back(one);
}

Json texts(const std::vector<std::string>& list) {
  Json json = Json::array();
  for (const std::string& one : list) json.push_back(one);
  return json;
}

std::vector<std::string> texts_from(const Json& json) {
  std::vector<std::string> list;
  for (const Json& one : json.items()) list.push_back(one.str());
  return list;
}

}  // namespace

void DeviceGrant::add(const DeviceGrant& other) {
  add_new(environment, other.environment, [](const auto& pair) { return pair.first; });
  add_new(nodes, other.nodes, &DeviceNode::container_path);
  add_new(mounts, other.mounts, &DeviceMount::target);
  add_hooks(hooks, other.hooks);
  add_new(library_folders, other.library_folders, std::identity());
  add_new(program_folders, other.program_folders, std::identity());
  unlimited_memlock |= other.unlimited_memlock;
}

bool has_infiniband(const DeviceGrant& grant) {
  return std::ranges::any_of(grant.nodes,
                             [](const DeviceNode& node) { return node.host_path.starts_with("/dev/infiniband/"); });
}

Json to_json(const DeviceGrant& grant) {
  Json environment = Json::array(), nodes = Json::array(), mounts = Json::array(), hooks = Json::array();
  for (const auto& [name, value] : grant.environment) environment.push_back(Json::array({Json(name), Json(value)}));
  for (const DeviceNode& node : grant.nodes)
    nodes.push_back(Json::object(
        {{"host", node.host_path}, {"container", node.container_path}, {"permissions", node.permissions}}));
  for (const DeviceMount& mount : grant.mounts)
    mounts.push_back(Json::object({{"source", mount.source}, {"target", mount.target}, {"ro", mount.read_only}}));
  for (const DeviceHook& hook : grant.hooks)
    hooks.push_back(Json::object({{"name", hook.name},
                                  {"path", hook.path},
                                  {"args", texts(hook.arguments)},
                                  {"env", texts(hook.environment)},
                                  {"timeout", hook.timeout_seconds}}));
  return Json::object({{"env", environment},
                       {"nodes", nodes},
                       {"mounts", mounts},
                       {"hooks", hooks},
                       {"libraryFolders", texts(grant.library_folders)},
                       {"programFolders", texts(grant.program_folders)},
                       {"unlimitedMemlock", grant.unlimited_memlock}});
}

DeviceGrant grant_from(const Json& json) {
  DeviceGrant grant;
  for (const Json& pair : json["env"].items())
    grant.environment.emplace_back(pair[std::size_t{0}].str(), pair[std::size_t{1}].str());
  for (const Json& node : json["nodes"].items())
    grant.nodes.push_back({node["host"].str(), node["container"].str(), node["permissions"].str()});
  for (const Json& mount : json["mounts"].items())
    grant.mounts.push_back({mount["source"].str(), mount["target"].str(), mount["ro"].as_bool()});
  for (const Json& hook : json["hooks"].items())
    grant.hooks.push_back({hook["name"].str(), hook["path"].str(), texts_from(hook["args"]), texts_from(hook["env"]),
                           static_cast<int>(hook["timeout"].as_int())});
  grant.library_folders = texts_from(json["libraryFolders"]);
  grant.program_folders = texts_from(json["programFolders"]);
  grant.unlimited_memlock = json["unlimitedMemlock"].as_bool();
  return grant;
}

}  // namespace node
