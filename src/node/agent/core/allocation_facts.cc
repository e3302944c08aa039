// Their form, and what is believed of them.
#include "node/agent/core/allocation_facts.h"

#include <unistd.h>

#include <algorithm>

#include "node/os/pod_folders.h"
#include "rt/files/files.h"

namespace node {

using api::Json;

namespace {

constexpr std::string_view kEnd = ".json";

std::string path_of(const std::string& folder, const std::string& uid) {
  return folder + "/" + uid + std::string(kEnd);
}

Json json_from(const ContainerAmounts& amounts) {
  Json all = Json::object();
  for (const auto& [name, resources] : amounts) all.set(name, resources);
  return all;
}

bool makes_sense(const Json& resources) {
  for (const char* side : {"requests", "limits"}) {
    const Json& amounts = resources[side];
    if (!amounts.is_null() && !amounts.is_object()) return false;
    for (const Json::Member& amount : amounts.members()) {
      const auto quantity = api::Quantity::from_json(amount.value);
      if (!quantity || quantity->sign() < 0) return false;
    }
  }
  return resources.is_object();
}

bool read_amounts(const Json& json, ContainerAmounts& out) {
  for (const Json::Member& container : json.members()) {
    if (!makes_sense(container.value)) return false;
    out[std::string(container.name())] = container.value;
  }
  return json.is_object();
}

}  // namespace

base::Status write_allocation(const std::string& folder, const Allocation& allocation) {
  if (folder.empty()) return {};  // nothing is kept
  TRY_VOID(rt::make_folders(folder, 0700));
  const Json json = Json::object({{"setAside", json_from(allocation.set_aside)},
                                  {"held", json_from(allocation.held)},
                                  {"resizing", allocation.resizing}});
  return rt::write_file(path_of(folder, allocation.uid), json.dump(), 0600);
}

base::Status AllocationFile::write(const std::string& folder, const Allocation& allocation, std::uint64_t decided) {
  const std::lock_guard lock(mutex_);
  if (decided < written_) return {};
  TRY_VOID(write_allocation(folder, allocation));
  written_ = decided;
  return {};
}

void erase_allocation(const std::string& folder, const std::string& uid) {
  if (!folder.empty()) ::unlink(path_of(folder, uid).c_str());
}

std::vector<Allocation> read_allocations(const std::string& folder) {
  std::vector<Allocation> all;
  if (folder.empty()) return all;
  for (const std::string& name : list_folder(folder)) {
    if (!name.ends_with(kEnd) || name.starts_with('.')) continue;  // a uid becomes a path
    const auto json = api::parse_json(read_text(folder + "/" + name));
    Allocation one{.uid = name.substr(0, name.size() - kEnd.size())};
    if (!json.ok() || !read_amounts((*json)["setAside"], one.set_aside) || !read_amounts((*json)["held"], one.held))
      continue;
    one.resizing = (*json)["resizing"].as_bool(true);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace node
