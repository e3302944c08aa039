// A Notebook, its workspace and a Tensorboard as objects, from what a person typed. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "base/result.h"
#include "base/time.h"

namespace cli {

inline const api::ResourceId kNotebooks{"kubeflow.org", "v1", "notebooks"};
inline const api::ResourceId kTensorboards{"tensorboard.kubeflow.org", "v1alpha1", "tensorboards"};
// The list of images that forms offer, with Kubeflow's keys.
inline constexpr const char* kSpawnerNamespace = "kubeflow";
inline constexpr const char* kSpawnerConfig = "jupyter-web-app-config";
inline constexpr const char* kSpawnerKey = "spawner_ui_config.yaml";

// "CLAIM:PATH"
struct NotebookVolume {
  std::string claim;
  std::string path;
};
struct NotebookRequest {
  std::string ns, name, image, cpu, memory, queue;
  std::int64_t gpus = 0;
  std::string gpu_resource = "nvidia.com/gpu";
  std::vector<NotebookVolume> volumes = {};
  std::vector<std::string> environment = {};  // NAME=VALUE
  base::Duration idle{};                      // 0: the controller's own
};

// A Service and a label have its name: at most 52 letters, as the pod of a StatefulSet with its revision is a label,
// too.
base::Status check_notebook_name(std::string_view name);
base::Result<NotebookVolume> parse_volume(std::string_view text);
// An error names the flag.
base::Result<api::Json> notebook_object(const NotebookRequest& request);
api::Json claim_object(const std::string& ns, const std::string& name, const std::string& size);
// The image that the configuration of forms offers first; empty: it offers none.
std::string first_image(const api::Json& config_map);

// The place of a run's events: "pvc://CLAIM/PATH" as it is; "NOTEBOOK:PATH" is a place in a volume of that notebook,
// which `notebook` is.
base::Result<std::string> notebook_of_logs(std::string_view logs);  // the NOTEBOOK; empty: a place by itself
base::Result<std::string> logs_path(std::string_view logs, const api::Json& notebook);
api::Json tensorboard_object(const std::string& ns, const std::string& name, const std::string& logs);

}  // namespace cli
