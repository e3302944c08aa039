// Which files each kind of volume consists of.
#include "node/pod/volumes.h"

#include <algorithm>
#include <functional>
#include <set>

#include "api/meta/resource.h"
#include "api/pods/volume_claims.h"
#include "api/schema/quantity.h"
#include "api/storage_resources.h"
#include "base/base64.h"
#include "base/format.h"
#include "node/machine/huge_pages.h"
#include "node/pod/environment.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

// The files of one volume; `room` is left to all volumes of the pod.
class Files {
 public:
  Files(std::vector<FileSpec>& all, std::size_t& room) : all_(all), room_(room) {}

  base::Status add(std::string path, std::string content, int mode) {
    const std::size_t bytes = path.size() + content.size();
    if (bytes > room_)
      return make_error(
          Code::kInvalid,
          base::format("path {:?}: the files of all volumes together are more than {} bytes", path, kVolumeBytesMax));
    room_ -= bytes;
    all_.push_back({std::move(path), std::move(content), mode});
    return {};
  }

 private:
  std::vector<FileSpec>& all_;
  std::size_t& room_;
};

// A path that stays below a folder, in words that a file system takes.
base::Status check_path(std::string_view path) {
  bool fine = !path.empty() && path.size() <= 4095 && path.find('\0') == std::string_view::npos;
  for (std::string_view rest = path; fine && !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find('/'));
    fine = !word.empty() && word != "." && word != ".." && word.size() <= 255;
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  if (fine && !path.ends_with('/') && !path.starts_with("..")) return {};
  return make_error(Code::kInvalid, base::format("path {:?} leaves the volume", path));
}

// A name cannot be a file and a folder, which sources of a projected volume can ask for together.
base::Status check_clashes(const std::vector<FileSpec>& files) {
  std::set<std::string_view> paths;
  for (const FileSpec& file : files) paths.insert(file.path);
  for (const FileSpec& file : files) {
    const std::string_view path = file.path;
    for (std::size_t at = path.find('/'); at != std::string_view::npos; at = path.find('/', at + 1))
      if (paths.contains(path.substr(0, at)))
        return make_error(Code::kInvalid, base::format("path {:?} lies below {:?}, which is a file of the volume, too",
                                                       path, path.substr(0, at)));
  }
  return {};
}

base::Result<int> mode_of(const Json& value, int fallback) {
  const std::int64_t mode = value.as_int(fallback);
  if (mode >= 0 && mode <= 0777) return static_cast<int>(mode);
  return make_error(Code::kInvalid, base::format("mode {} is not between 0 and 0777", mode));
}

// A projected source has a field that is called otherwise than that of a volume.
std::string_view object_name(const Json& source, bool secret) {
  const std::string_view name = source["name"].as_string();
  return secret && name.empty() ? source["secretName"].as_string() : name;
}

// The entries of a ConfigMap or Secret that `source` (items, optional) selects.
base::Status add_object_files(const Json& pod, const Json& source, bool secret, int default_mode,
                              const Lookups& lookups, Files& files) {
  const std::string_view ns = api::namespace_of(pod);
  const std::string_view name = object_name(source, secret);
  const bool optional = source["optional"].as_bool();
  const Json* object = lookups.find(secret ? "Secret" : "ConfigMap", ns, name);
  if (object == nullptr) {
    if (optional) return {};
    return make_error(Code::kNotFound, base::format("{} {:?} not found", secret ? "secret" : "configmap", name));
  }
  const auto content_of = [&](std::string_view key) -> base::Result<std::string> {
    if (const Json* text = (*object)["data"].find(key)) {
      if (!secret) return text->str();
      return base::base64_decode(text->as_string());
    }
    if (const Json* bytes = (*object)["binaryData"].find(key)) return base::base64_decode(bytes->as_string());
    return make_error(Code::kNotFound, "references non-existent " + std::string(secret ? "secret" : "config") +
                                           " key: " + std::string(key));
  };
  if (source["items"].empty()) {
    for (const char* map : {"data", "binaryData"}) {
      for (const Json::Member& member : (*object)[map].members()) {
        TRY_VOID(check_path(member.name()));
        TRY(std::string content, content_of(member.name()));
        TRY_VOID(files.add(std::string(member.name()), std::move(content), default_mode));
      }
    }
    return {};
  }
  for (const Json& item : source["items"].items()) {
    auto content = content_of(item["key"].as_string());
    if (!content.ok()) {
      if (optional && content.error().code == Code::kNotFound) continue;
      return content.take_error();
    }
    TRY_VOID(check_path(item["path"].as_string()));
    TRY(const int mode, mode_of(item["mode"], default_mode));
    TRY_VOID(files.add(item["path"].str(), std::move(*content), mode));
  }
  return {};
}

base::Status add_downward_files(const Json& pod, const Json& source, int default_mode, const Lookups& lookups,
                                Files& files) {
  const ContainersByName containers(pod);
  for (const Json& item : source["items"].items()) {
    TRY_VOID(check_path(item["path"].as_string()));
    TRY(const int mode, mode_of(item["mode"], default_mode));
    std::string content;
    if (item.has("fieldRef")) {
      TRY(content, field_value(pod, item["fieldRef"]["fieldPath"].as_string(), lookups));
    } else {
      const Json& reference = item["resourceFieldRef"];
      const Json* container = containers.find(reference["containerName"].as_string());
      if (container == nullptr)
        return make_error(Code::kInvalid,
                          base::format("container {:?} does not exist", reference["containerName"].as_string()));
      TRY(content, resource_value(*container, reference, lookups));
    }
    TRY_VOID(files.add(item["path"].str(), std::move(content), mode));
  }
  return {};
}

base::Status add_projected_files(const Json& pod, const Json& projected, const Lookups& lookups, Files& files) {
  TRY(const int mode, mode_of(projected["defaultMode"], 0644));
  for (const Json& source : projected["sources"].items()) {
    if (source.has("configMap")) {
      TRY_VOID(add_object_files(pod, source["configMap"], false, mode, lookups, files));
    } else if (source.has("secret")) {
      TRY_VOID(add_object_files(pod, source["secret"], true, mode, lookups, files));
    } else if (source.has("serviceAccountToken")) {
      const Json& request = source["serviceAccountToken"];
      const std::string* token = lookups.token ? lookups.token(request) : nullptr;
      if (token == nullptr) return make_error(Code::kUnavailable, "the token of the service account is not there yet");
      TRY_VOID(check_path(request["path"].as_string()));
      TRY_VOID(files.add(request["path"].str(), *token, mode));
    } else if (source.has("downwardAPI")) {
      TRY_VOID(add_downward_files(pod, source["downwardAPI"], mode, lookups, files));
    } else {
      const std::string_view kind = source.members().empty() ? "" : source.members().front().name();
      return make_error(Code::kInvalid, base::format("projected volumes with {} are not supported on this node", kind));
    }
  }
  return {};
}

base::Status follow_claim(const Json& pod, const Json& source, const Lookups& lookups, VolumeSpec& spec) {
  const std::string_view ns = api::namespace_of(pod);
  const std::string name = api::claim_of_volume(pod, source);
  const Json* claim = lookups.find("PersistentVolumeClaim", ns, name);
  if (claim == nullptr) return make_error(Code::kNotFound, base::format("persistentvolumeclaim {:?} not found", name));
  if (!api::is_claim_of(pod, source, *claim))
    return make_error(Code::kUnavailable, base::format("PVC {}/{} was not made for this pod", ns, name));
  const std::string_view volume_name = (*claim)["spec"]["volumeName"].as_string();
  if (volume_name.empty() || (*claim)["status"]["phase"].as_string() != "Bound")
    return make_error(Code::kUnavailable, base::format("PVC {}/{} is not bound", ns, name));
  if ((*claim)["spec"]["volumeMode"].as_string() == "Block")
    return make_error(Code::kInvalid,
                      base::format("PVC {}/{} has volumeMode Block, and this node has no block volumes", ns, name));
  const Json* volume = lookups.find("PersistentVolume", {}, volume_name);
  if (volume == nullptr)
    return make_error(Code::kNotFound, base::format("persistentvolume {:?} not found", volume_name));
  const Json& body = (*volume)["spec"];
  // Both say so: a claim alone is what its owner wrote.
  if (body["claimRef"]["uid"].as_string() != api::uid_of(*claim))
    return make_error(Code::kUnavailable,
                      base::format("persistentvolume {:?} is not bound to PVC {}/{}", volume_name, ns, name));
  spec.kind = VolumeSpec::Kind::kHostPath;
  const Json& security = pod["spec"]["securityContext"];
  const bool provisioned = api::annotation_of(*volume, api::kProvisionedBy) == api::kLocalProvisioner;
  const bool read_only = source["persistentVolumeClaim"]["readOnly"].as_bool();
  if ((provisioned || body.has("local")) && !read_only && security["fsGroup"].is_int()) {
    spec.group = security["fsGroup"].as_int();
    spec.group_on_mismatch = security["fsGroupChangePolicy"].as_string() == "OnRootMismatch";
  }
  spec.open_to_all = provisioned;
  if (body.has("hostPath")) {
    spec.host_path = body["hostPath"]["path"].str();
    // The folder of a volume from this machine's provisioner is made on first use.
    spec.host_type =
        body["hostPath"]["type"].as_string().empty() ? "DirectoryOrCreate" : body["hostPath"]["type"].str();
    return {};
  }
  if (body.has("local")) {
    spec.host_path = body["local"]["path"].str();
    return {};
  }
  return make_error(
      Code::kInvalid,
      base::format("persistentvolume {:?} is neither hostPath nor local: not supported on this node", volume_name));
}

}  // namespace

bool is_live_volume(const Json& volume) {
  return volume.has("configMap") || volume.has("secret") || volume.has("downwardAPI") || volume.has("projected");
}

std::string version_of(const VolumeSpec& volume) {
  std::string version;
  for (const FileSpec& file : volume.files)
    version += base::format("{}:{}:{}:{:x}\n", file.path, file.mode, file.content.size(),
                            std::hash<std::string>()(file.content));
  return version;
}

std::vector<VolumeObject> live_objects_of(const Json& pod) {
  std::vector<VolumeObject> objects;
  const auto add = [&](const Json& source) {
    for (const bool secret : {false, true})
      if (const char* field = secret ? "secret" : "configMap"; source.has(field))
        objects.emplace_back(secret ? "Secret" : "ConfigMap",
                             base::format("{}/{}", api::namespace_of(pod), object_name(source[field], secret)));
  };
  for (const Json& volume : pod["spec"]["volumes"].items()) {
    add(volume);
    for (const Json& source : volume["projected"]["sources"].items()) add(source);
  }
  return objects;
}

// The rest of a pod's object is in no file.
bool may_change_volumes(const Json& before, const Json& after) {
  const Json &was = before["metadata"], &is = after["metadata"];
  return was["labels"] != is["labels"] || was["annotations"] != is["annotations"] ||
         before["spec"]["containers"] != after["spec"]["containers"] ||
         before["spec"]["initContainers"] != after["spec"]["initContainers"];
}

base::Result<VolumeSpec> volume_of(const Json& pod, const Json& volume, const Lookups& lookups, std::size_t& room) {
  VolumeSpec spec;
  Files files(spec.files, room);
  spec.name = volume["name"].str();
  const bool of_claim = volume.has("persistentVolumeClaim") || volume.has("ephemeral");
  const Json& group = pod["spec"]["securityContext"]["fsGroup"];
  if (group.is_int() && !of_claim && !volume.has("hostPath")) spec.group = group.as_int();
  if (volume.has("configMap")) {
    spec.kind = VolumeSpec::Kind::kFiles;
    TRY(const int mode, mode_of(volume["configMap"]["defaultMode"], 0644));
    TRY_VOID(add_object_files(pod, volume["configMap"], false, mode, lookups, files));
  } else if (volume.has("secret")) {
    spec.kind = VolumeSpec::Kind::kFiles;
    spec.memory = true;
    TRY(const int mode, mode_of(volume["secret"]["defaultMode"], 0644));
    TRY_VOID(add_object_files(pod, volume["secret"], true, mode, lookups, files));
  } else if (volume.has("downwardAPI")) {
    spec.kind = VolumeSpec::Kind::kFiles;
    TRY(const int mode, mode_of(volume["downwardAPI"]["defaultMode"], 0644));
    TRY_VOID(add_downward_files(pod, volume["downwardAPI"], mode, lookups, files));
  } else if (volume.has("projected")) {
    spec.kind = VolumeSpec::Kind::kFiles;
    const auto& sources = volume["projected"]["sources"].items();
    spec.memory = std::ranges::any_of(sources, [](const Json& one) { return one.has("serviceAccountToken"); });
    TRY_VOID(add_projected_files(pod, volume["projected"], lookups, files));
  } else if (volume.has("hostPath")) {
    spec.kind = VolumeSpec::Kind::kHostPath;
    spec.host_path = volume["hostPath"]["path"].str();
    spec.host_type = volume["hostPath"]["type"].str();
  } else if (of_claim) {
    TRY_VOID(follow_claim(pod, volume, lookups, spec));
  } else if (volume.has("emptyDir") || volume.size() == 1) {
    const std::string_view medium = volume["emptyDir"]["medium"].as_string();
    if (medium.starts_with("HugePages")) {
      TRY(spec.huge_page_bytes, page_bytes_of_medium(pod, medium));
    }
    spec.memory = medium == "Memory";
    if (const auto limit = api::Quantity::from_json(volume["emptyDir"]["sizeLimit"]))
      spec.bytes_max = std::max<std::int64_t>(0, limit->value());
  } else {
    std::string kind;
    for (const Json::Member& member : volume.members())
      if (member.name() != "name") kind = member.name();
    return make_error(Code::kInvalid, base::format("volumes of kind {} are not supported on this node", kind));
  }
  TRY_VOID(check_clashes(spec.files));
  if (spec.host_path.find('\0') != std::string::npos)  // the machine would see another path
    return make_error(Code::kInvalid, base::format("path {:?} contains a NUL character", spec.host_path));
  return spec;
}

base::Result<std::vector<VolumeSpec>> volumes_of(const Json& pod, const Lookups& lookups) {
  std::vector<VolumeSpec> volumes;
  std::size_t room = kVolumeBytesMax;
  for (const Json& volume : pod["spec"]["volumes"].items()) {
    auto spec = volume_of(pod, volume, lookups, room);
    if (!spec.ok())
      return base::within(spec.take_error(),
                          base::format("MountVolume.SetUp failed for volume {:?} ", volume["name"].as_string()));
    volumes.push_back(std::move(*spec));
  }
  return volumes;
}

}  // namespace node
