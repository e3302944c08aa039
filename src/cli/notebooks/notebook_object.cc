// Objects as Kubeflow's web application makes them, but for the scheduler: a notebook waits in a queue like other work.
#include "cli/notebooks/notebook_object.h"

#include <algorithm>

#include "api/json/yaml.h"
#include "api/schema/names.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "base/split.h"

namespace cli {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::string_view kHome = "/home/jovyan";
constexpr std::size_t kNameMax = 52;
constexpr int kPort = 8888;  // to which the Service of a notebook leads

base::Error wrong(std::string message) { return make_error(Code::kInvalid, std::move(message)); }

base::Status check_amount(std::string_view flag, std::string_view text) {
  const auto amount = api::Quantity::parse(text);
  if (amount && !amount->is_zero() && !text.starts_with('-')) return {};
  return wrong(base::format("{}: {:?} is not an amount above zero, such as {}", flag, text,
                            flag == "--cpu" ? "2 or 500m" : "4Gi"));
}

// "/a/b" of "/a//b/"; empty: it is not an absolute path, or leads back.
std::string clean_path(std::string_view path) {
  if (!path.starts_with('/')) return {};
  std::string out;
  for (const std::string_view part : base::split_words(path, '/')) {
    if (part == ".." || part == ".") return {};
    out += "/" + std::string(part);
  }
  return out.empty() ? "/" : out;
}

base::Result<Json> environment_of(const NotebookRequest& request) {
  Json list = Json::array();
  for (const std::string& pair : request.environment) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) return wrong(base::format("--env: {:?} is not NAME=VALUE", pair));
    list.push_back(Json::object({{"name", pair.substr(0, equals)}, {"value", pair.substr(equals + 1)}}));
  }
  return list;
}

}  // namespace

base::Status check_notebook_name(std::string_view name) {
  if (name.empty()) return wrong("a name must be given");
  const std::vector<std::string> problems = api::check_dns1035_label(name);
  if (!problems.empty()) return wrong(base::format("the name {:?}: {}", name, problems.front()));
  if (name.size() > kNameMax)
    return wrong(base::format("the name {:?} has {} letters, and {} are the most", name, name.size(), kNameMax));
  return {};
}

base::Result<NotebookVolume> parse_volume(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view claim = text.substr(0, colon);
  const std::string path = colon == text.npos ? std::string() : clean_path(text.substr(colon + 1));
  if (!api::is_dns_subdomain(claim) || path.empty() || path == "/")
    return wrong(base::format("--volume: {:?} is not CLAIM:PATH with an absolute path, such as data:/data", text));
  return NotebookVolume{std::string(claim), path};
}

base::Result<Json> notebook_object(const NotebookRequest& request) {
  TRY_VOID(check_notebook_name(request.name));
  if (request.image.empty()) return wrong("--image must be given: no list of images offers one");
  TRY_VOID(check_amount("--cpu", request.cpu));
  TRY_VOID(check_amount("--memory", request.memory));
  if (request.gpus < 0) return wrong(base::format("--gpu: {} is not a number of cards", request.gpus));
  TRY(Json environment, environment_of(request));
  Json requests = Json::object({{"cpu", request.cpu}, {"memory", request.memory}});
  Json limits = Json::object({{"memory", request.memory}});
  if (request.gpus > 0) limits.set(request.gpu_resource, std::to_string(request.gpus));
  Json volumes = Json::array(), mounts = Json::array();
  std::vector<std::string> paths;
  for (const NotebookVolume& volume : request.volumes) {
    if (std::ranges::find(paths, volume.path) != paths.end())
      return wrong(base::format("--volume: two volumes at {}", volume.path));
    paths.push_back(volume.path);
    const std::string name = base::format("volume-{}", paths.size());
    volumes.push_back(
        Json::object({{"name", name}, {"persistentVolumeClaim", Json::object({{"claimName", volume.claim}})}}));
    mounts.push_back(Json::object({{"name", name}, {"mountPath", volume.path}}));
  }
  volumes.push_back(Json::object({{"name", "shared-memory"}, {"emptyDir", Json::object({{"medium", "Memory"}})}}));
  mounts.push_back(Json::object({{"name", "shared-memory"}, {"mountPath", "/dev/shm"}}));
  Json container = Json::object(
      {{"name", request.name},
       {"image", request.image},
       {"resources", Json::object({{"requests", requests}, {"limits", limits}})},
       {"volumeMounts", mounts},
       {"readinessProbe", Json::object({{"tcpSocket", Json::object({{"port", kPort}})}, {"periodSeconds", 1}})}});
  if (!environment.items().empty()) container.set("env", environment);
  Json annotations = Json::object({{"notebooks.kubeflow.org/server-type", "jupyter"}});
  if (!request.queue.empty()) annotations.set("scheduling.volcano.sh/queue-name", request.queue);
  if (request.idle.ns > 0) annotations.set("notebooks.volcano.sh/idle-after", base::format_go_duration(request.idle));
  return Json::object(
      {{"apiVersion", "kubeflow.org/v1"},
       {"kind", "Notebook"},
       {"metadata", Json::object({{"name", request.name},
                                  {"namespace", request.ns},
                                  {"labels", Json::object({{"app", request.name}})},
                                  {"annotations", annotations}})},
       {"spec",
        Json::object({{"template", Json::object({{"spec", Json::object({{"schedulerName", "volcano"},
                                                                        {"containers", Json::array({container})},
                                                                        {"volumes", volumes}})}})}})}});
}

Json claim_object(const std::string& ns, const std::string& name, const std::string& size) {
  return Json::object(
      {{"apiVersion", "v1"},
       {"kind", "PersistentVolumeClaim"},
       {"metadata", Json::object({{"name", name}, {"namespace", ns}})},
       {"spec", Json::object({{"accessModes", Json::array({Json("ReadWriteOnce")})},
                              {"resources", Json::object({{"requests", Json::object({{"storage", size}})}})}})}});
}

std::string first_image(const Json& config_map) {
  const auto config = api::parse_yaml(config_map["data"][kSpawnerKey].as_string());
  if (!config.ok()) return {};
  return (*config)["spawnerFormDefaults"]["image"]["value"].str();
}

base::Result<std::string> notebook_of_logs(std::string_view logs) {
  if (logs.find("://") != logs.npos || logs.starts_with('/')) return std::string();
  const std::string_view name = logs.substr(0, logs.find(':'));
  if (name.size() == logs.size() || !api::is_dns_label(name))
    return wrong(base::format("--logs: {:?} is neither pvc://CLAIM/PATH nor NOTEBOOK:PATH", logs));
  return std::string(name);
}

base::Result<std::string> logs_path(std::string_view logs, const Json& notebook) {
  const std::string_view typed = logs.substr(logs.find(':') + 1);
  const Json& spec = notebook["spec"]["template"]["spec"];
  const Json& container = spec["containers"].items().empty() ? Json() : spec["containers"].items().front();
  const std::string_view home = container["workingDir"].as_string(kHome);
  const std::string path = clean_path(typed.starts_with('/') ? std::string(typed) : base::format("{}/{}", home, typed));
  if (path.empty()) return wrong(base::format("--logs: {:?} is not a path in a notebook", typed));
  std::string best_mount, place;
  for (const Json& mount : container["volumeMounts"].items()) {
    const std::string at = clean_path(mount["mountPath"].as_string());
    const bool is_below = path == at || path.starts_with(at + "/");
    if (at.empty() || !is_below || at.size() < best_mount.size()) continue;
    for (const Json& volume : spec["volumes"].items()) {
      const std::string_view claim = volume["persistentVolumeClaim"]["claimName"].as_string();
      if (volume["name"].as_string() != mount["name"].as_string() || claim.empty()) continue;
      best_mount = at;
      const std::string below = clean_path(base::format("/{}{}", mount["subPath"].as_string(), path.substr(at.size())));
      place = base::format("pvc://{}{}", claim, below == "/" ? "" : below);
    }
  }
  if (place.empty())
    return wrong(
        base::format("--logs: {} is in no volume of notebook {}, so that no other pod can read it; its volumes "
                     "are kept, its other files are not",
                     path, api::name_of(notebook)));
  return place;
}

Json tensorboard_object(const std::string& ns, const std::string& name, const std::string& logs) {
  return Json::object({{"apiVersion", "tensorboard.kubeflow.org/v1alpha1"},
                       {"kind", "Tensorboard"},
                       {"metadata", Json::object({{"name", name}, {"namespace", ns}})},
                       {"spec", Json::object({{"logspath", logs}})}});
}

}  // namespace cli
