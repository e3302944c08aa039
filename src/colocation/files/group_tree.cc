// Names of groups (agent.md 4).
#include "colocation/files/group_tree.h"

#include <algorithm>
#include <vector>

#include "base/format.h"
#include "base/split.h"

namespace colocation {

namespace {

std::vector<std::string> parts_of(const GroupTree& tree, QosClass qos) {
  std::vector<std::string> parts;
  for (const std::string_view part : base::split_words(tree.above, '/')) parts.emplace_back(part);
  if (tree.driver == GroupDriver::kOwn) return parts;
  parts.emplace_back("kubepods");
  if (qos == QosClass::kBurstable) parts.emplace_back("burstable");
  if (qos == QosClass::kBestEffort) parts.emplace_back("besteffort");
  return parts;
}

// systemd names a slice after all those above it: a.slice/a-b.slice/a-b-c.slice. A '-' inside a part would be another
// step, so it becomes '_'.
std::string join_parts(const GroupTree& tree, const std::vector<std::string>& parts) {
  if (tree.driver != GroupDriver::kSystemd) return base::join(parts, "/");
  std::string path, name;
  for (std::string part : parts) {
    std::ranges::replace(part, '-', '_');
    name += (name.empty() ? "" : "-") + part;
    path += base::format("{}{}.slice", path.empty() ? "" : "/", name);
  }
  return path;
}

}  // namespace

bool is_group_name(std::string_view name) {
  constexpr std::size_t kNameMax = 255;
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !name.empty() && name.size() <= kNameMax && name.front() != '.' && std::ranges::all_of(name, fits);
}

std::string class_path(const GroupTree& tree, QosClass qos) { return join_parts(tree, parts_of(tree, qos)); }
std::string pods_path(const GroupTree& tree) { return class_path(tree, QosClass::kGuaranteed); }

std::optional<std::string> pod_path(const GroupTree& tree, QosClass qos, std::string_view uid) {
  if (!is_group_name(uid)) return std::nullopt;
  std::vector<std::string> parts = parts_of(tree, qos);
  parts.push_back(base::format("pod{}", uid));
  return join_parts(tree, parts);
}

std::optional<std::string> container_group(const GroupTree& tree, std::string_view container_id) {
  const std::size_t colon = container_id.find("://");
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view runtime = container_id.substr(0, colon), id = container_id.substr(colon + 3);
  if (!is_group_name(id)) return std::nullopt;
  if (tree.driver != GroupDriver::kSystemd) return std::string(id);
  if (runtime == "containerd") return base::format("cri-containerd-{}.scope", id);
  if (runtime == "docker") return base::format("docker-{}.scope", id);
  if (runtime == "cri-o") return base::format("crio-{}.scope", id);
  return std::string(id);
}

std::string group_folder(const GroupTree& tree, std::string_view controller, std::string_view path) {
  if (tree.version == GroupVersion::kV2) return base::format("{}/{}", tree.root, path);
  return base::format("{}/{}/{}", tree.root, controller, path);
}

}  // namespace colocation
