// A row for each kind. A target is never decoded, so that two readers cannot see it differently.
#include "ui/notebooks/notebook_place.h"

#include <algorithm>
#include <array>
#include <vector>

#include "api/meta/resource.h"
#include "api/schema/names.h"
#include "base/format.h"
#include "base/split.h"

namespace ui {
namespace {

using Kind = NotebookPlace::Kind;

constexpr std::string_view kRewrite = "notebooks.kubeflow.org/http-rewrite-uri",
                           kHeaders = "notebooks.kubeflow.org/http-headers-request-set";

struct KindRow {
  Kind kind;
  std::string_view begin;  // of its paths
  std::string_view word;
  std::string_view group, plural;
  std::string_view label;           // of its pods, with its name
  std::string_view service_prefix;  // of the name of its Service
};
constexpr std::array kKinds = {
    KindRow{Kind::kNotebook, "/notebook/", "notebook", "kubeflow.org/v1", "notebooks", "notebook-name", ""},
    KindRow{Kind::kTensorboard, "/tensorboard/", "TensorBoard", "tensorboard.kubeflow.org/v1alpha1", "tensorboards",
            "app", ""},
    KindRow{Kind::kViewer, "/pvcviewers/", "viewer", "kubeflow.org/v1alpha1", "pvcviewers", "app.kubernetes.io/name",
            "pvcviewer-"}};

const KindRow& row_of(Kind kind) {
  return *std::ranges::find_if(kKinds, [kind](const KindRow& row) { return row.kind == kind; });
}

const KindRow* row_of_path(std::string_view path) {
  const auto found = std::ranges::find_if(kKinds, [path](const KindRow& row) { return path.starts_with(row.begin); });
  return found == kKinds.end() ? nullptr : &*found;
}

bool is_printable(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

// The headers of an annotation that is a JSON object of texts; others are left out.
rt::Headers headers_of(std::string_view annotation) {
  rt::Headers out;
  const auto parsed = api::parse_json(annotation);
  if (!parsed.ok()) return out;
  for (const api::Json::Member& member : parsed->members()) {
    const std::string_view name = member.name(), value = member.value.as_string();
    const bool is_name = is_printable(name) && name.find_first_of("()<>@,;:\\\"/[]?={}") == name.npos;
    if (is_name && is_printable(value)) out.emplace_back(name, value);
  }
  return out;
}

}  // namespace

std::string NotebookPlace::prefix() const { return base::format("{}{}/{}", row_of(kind).begin, ns, name); }

std::string NotebookPlace::text() const { return base::format("{} {}/{}", row_of(kind).word, ns, name); }

std::string NotebookPlace::object_path() const {
  const KindRow& row = row_of(kind);
  return base::format("/apis/{}/namespaces/{}/{}/{}", row.group, ns, row.plural, name);
}

std::string NotebookPlace::pod_selector() const { return base::format("{}%3D{}", row_of(kind).label, name); }

std::string NotebookPlace::proxy_prefix() const {
  return base::format("/api/v1/namespaces/{}/services/{}{}:80/proxy", ns, row_of(kind).service_prefix, name);
}

NotebookRoute NotebookPlace::route(const api::Json& object) const {
  if (kind == Kind::kTensorboard) return {.rewrite = "/"};
  NotebookRoute out;
  if (kind != Kind::kNotebook) return out;
  const std::string_view rewrite = api::annotation_of(object, kRewrite);
  if (rewrite.starts_with('/') && is_printable(rewrite) && rewrite.find_first_of("?#") == rewrite.npos)
    out.rewrite = rewrite.ends_with('/') ? std::string(rewrite) : base::format("{}/", rewrite);
  out.headers = headers_of(api::annotation_of(object, kHeaders));
  return out;
}

std::string NotebookPlace::proxy_target(std::string_view target, const NotebookRoute& route) const {
  if (!route.rewrite) return proxy_prefix() + std::string(target);
  const std::size_t begin = std::min(target.size(), prefix().size() + 1);
  return proxy_prefix() + *route.rewrite + std::string(target.substr(begin));
}

std::string NotebookPlace::browser_target(std::string_view path_on_server, const NotebookRoute& route) const {
  if (!route.rewrite || !path_on_server.starts_with(*route.rewrite)) return std::string(path_on_server);
  return base::format("{}/{}", prefix(), path_on_server.substr(route.rewrite->size()));
}

bool is_notebook_path(std::string_view path) { return row_of_path(path) != nullptr; }

std::optional<NotebookPlace> notebook_place(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  const KindRow* row = row_of_path(path);
  if (row == nullptr) return std::nullopt;
  const std::vector<std::string_view> parts = base::split(path, '/');
  if (parts.size() < 4 || !api::is_dns_label(parts[2]) || !api::is_dns_label(parts[3])) return std::nullopt;
  return NotebookPlace{row->kind, std::string(parts[2]), std::string(parts[3])};
}

}  // namespace ui
