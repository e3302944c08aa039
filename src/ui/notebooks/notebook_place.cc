// Names and prefixes; a target is never decoded, so that two readers cannot see it differently.
#include "ui/notebooks/notebook_place.h"

#include <algorithm>
#include <vector>

#include "api/schema/names.h"
#include "base/format.h"
#include "base/split.h"

namespace ui {
namespace {

constexpr std::string_view kNotebook = "/notebook/", kTensorboard = "/tensorboard/";

}  // namespace

std::string NotebookPlace::prefix() const {
  return base::format("{}{}/{}", kind == Kind::kNotebook ? kNotebook : kTensorboard, ns, name);
}

std::string NotebookPlace::text() const {
  return base::format("{} {}/{}", kind == Kind::kNotebook ? "notebook" : "TensorBoard", ns, name);
}

std::string NotebookPlace::object_path() const {
  return kind == Kind::kNotebook
             ? base::format("/apis/kubeflow.org/v1/namespaces/{}/notebooks/{}", ns, name)
             : base::format("/apis/tensorboard.kubeflow.org/v1alpha1/namespaces/{}/tensorboards/{}", ns, name);
}

std::string NotebookPlace::pod_selector() const {
  return base::format("{}%3D{}", kind == Kind::kNotebook ? "notebook-name" : "app", name);
}

std::string NotebookPlace::proxy_prefix() const {
  return base::format("/api/v1/namespaces/{}/services/{}:80/proxy", ns, name);
}

std::string NotebookPlace::proxy_target(std::string_view target) const {
  if (kind == Kind::kNotebook) return proxy_prefix() + std::string(target);
  return proxy_prefix() + std::string(target.substr(std::min(target.size(), prefix().size())));
}

std::string NotebookPlace::browser_target(std::string_view path_on_server) const {
  return kind == Kind::kNotebook ? std::string(path_on_server) : prefix() + std::string(path_on_server);
}

bool is_notebook_path(std::string_view path) { return path.starts_with(kNotebook) || path.starts_with(kTensorboard); }

std::optional<NotebookPlace> notebook_place(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  if (!is_notebook_path(path)) return std::nullopt;
  const std::vector<std::string_view> parts = base::split(path, '/');
  if (parts.size() < 4 || !api::is_dns_label(parts[2]) || !api::is_dns_label(parts[3])) return std::nullopt;
  return NotebookPlace{path.starts_with(kNotebook) ? NotebookPlace::Kind::kNotebook : NotebookPlace::Kind::kTensorboard,
                       std::string(parts[2]), std::string(parts[3])};
}

}  // namespace ui
