// An output lies in a folder of the claim at once, or is copied there by the launcher: which of them follows from its
// path and the command.
#include "pipelines/argo/pod_artifacts.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"

namespace pipelines::argo {

using api::Json;

namespace {

constexpr std::string_view kRawVolume = "argo-raw", kKeptFolder = "/argo/outputs";
// The SDK's own folders of outputs hold nothing of the image.
constexpr std::string_view kOwnFolder = "/tmp/outputs/";

// "/a/b/data": "/a/b" and "data".
std::pair<std::string, std::string> parts_of(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {"", std::string(path)};
  return {std::string(path.substr(0, slash)), std::string(path.substr(slash + 1))};
}

enum class Way : std::uint8_t { kFolder, kCopy, kNone };

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// A folder of the claim hides what the image or another volume has there. Without a command nothing could be copied.
Way way_of(const Json& spec, const Json& artifact) {
  const std::string_view path = artifact["path"].as_string();
  if (path.starts_with(kOwnFolder)) return Way::kFolder;
  const Json& main = spec[spec.has("script") ? "script" : "container"];
  if (!main["command"].empty()) return Way::kCopy;
  const std::string folder = parts_of(path).first;
  if (folder.empty()) return Way::kNone;
  const bool is_mounted = std::ranges::any_of(main["volumeMounts"].items(), [&](const Json& one) {
    const std::string_view mounted = one["mountPath"].as_string();
    return is_below(folder, mounted) || is_below(mounted, folder);
  });
  return is_mounted ? Way::kNone : Way::kFolder;
}

// The SDK of Kubeflow's pipelines was without `optional` at first.
bool may_be_missing(const Json& artifact) {
  return artifact["optional"].as_bool() || artifact["name"].as_string().starts_with("mlpipeline-");
}

std::string folder_of(const PodRequest& request) {
  return base::format("artifacts/{}/{}", api::name_of(request.look.workflow), request.name);
}

// Below the pod's folder. Artifacts whose paths are in one folder of the claim share it, named after the first.
std::string place_of(const PodRequest& request, const Json& artifact) {
  const auto [folder, file] = parts_of(artifact["path"].as_string());
  std::string_view name = artifact["name"].as_string();
  if (way_of(request.spec, artifact) == Way::kFolder)
    for (const Json& one : request.spec["outputs"]["artifacts"].items()) {
      if (parts_of(one["path"].as_string()).first != folder) continue;
      name = one["name"].as_string();
      break;
    }
  return base::format("{}/{}", name, file);
}

Json artifact_mount(std::string_view path, std::string_view key) {
  return Json::object({{"name", kArtifactsVolume}, {"mountPath", path}, {"subPath", key}});
}

}  // namespace

std::vector<std::string> output_files(const Json& spec) {
  std::vector<std::string> files;
  for (const Json& one : spec["outputs"]["parameters"].items())
    if (one["valueFrom"]["path"].is_string()) files.push_back(one["valueFrom"]["path"].str());
  return files;
}

std::string key_of(const PodRequest& request, const Json& artifact) {
  if (way_of(request.spec, artifact) == Way::kNone) return {};
  return base::format("{}/{}", folder_of(request), place_of(request, artifact));
}

bool copies_artifacts(const Json& spec) {
  return std::ranges::any_of(spec["outputs"]["artifacts"].items(),
                             [&](const Json& one) { return way_of(spec, one) == Way::kCopy; });
}

void add_keep_words(const PodRequest& request, std::vector<Json>& words) {
  for (const Json& one : request.spec["outputs"]["artifacts"].items()) {
    if (way_of(request.spec, one) != Way::kCopy) continue;
    words.emplace_back(may_be_missing(one) ? "--keep-if-there" : "--keep");
    words.push_back(one["path"]);
    words.emplace_back("--as");
    words.emplace_back(base::format("{}/{}", kKeptFolder, place_of(request, one)));
  }
}

std::string artifact_problem(const Json& spec) {
  for (const Json& one : spec["outputs"]["artifacts"].items()) {
    const std::string_view name = one["name"].as_string();
    if (one["path"].as_string().empty()) return base::format("outputs.artifacts.{}: it has no path", name);
    if (way_of(spec, one) == Way::kNone && !may_be_missing(one))
      return base::format("outputs.artifacts.{}: the container needs a command, which is run by what copies {}", name,
                          one["path"].as_string());
  }
  return {};
}

// The folder of an output may be a folder of the claim, so that nothing is copied; an input is the file or folder
// itself, which may lie in the folder of an output.
void mount_artifacts(const PodRequest& request, Json& mounts) {
  std::set<std::string> folders;
  for (const Json& one : request.spec["outputs"]["artifacts"].items()) {
    const std::string folder = parts_of(one["path"].as_string()).first;
    if (way_of(request.spec, one) == Way::kFolder && folders.insert(folder).second)
      mounts.push_back(artifact_mount(folder, parts_of(key_of(request, one)).first));
  }
  if (copies_artifacts(request.spec)) mounts.push_back(artifact_mount(kKeptFolder, folder_of(request)));
  for (const Json& one : request.inputs["artifacts"].items()) {
    const Json& key = one["s3"]["key"];
    if (!key.is_string() || one["path"].as_string().empty()) continue;
    Json mount = artifact_mount(one["path"].as_string(), key.as_string());
    mount.set("readOnly", true);
    mounts.push_back(std::move(mount));
  }
}

// A file each, beside what the image has in its folder.
void mount_raw(const Json& inputs, Json& mounts) {
  std::size_t number = 0;
  for (const Json& one : inputs["artifacts"].items()) {
    const std::string file = base::format("raw-{}", number++);
    if (one.has("raw"))
      mounts.push_back(
          Json::object({{"name", kRawVolume}, {"mountPath", one["path"]}, {"subPath", file}, {"readOnly", true}}));
  }
}

// Raw artifacts come as the script does.
Json raw_volume(const Json& inputs) {
  Json items = Json::array();
  std::size_t number = 0;
  for (const Json& one : inputs["artifacts"].items()) {
    const std::string file = base::format("raw-{}", number++);
    const std::string field = base::format("metadata.annotations['{}{}']", kRawAnnotation, file);
    if (one.has("raw"))
      items.push_back(Json::object({{"path", file}, {"fieldRef", Json::object({{"fieldPath", field}})}}));
  }
  if (items.empty()) return {};
  return Json::object({{"name", kRawVolume}, {"downwardAPI", Json::object({{"items", std::move(items)}})}});
}

}  // namespace pipelines::argo
