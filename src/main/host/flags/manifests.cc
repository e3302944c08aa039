// Files of manifests: their objects, and the pods in them as an API server would fill them in.
#include "main/host/flags/manifests.h"

#include <algorithm>
#include <cstring>

#include "api/json/yaml.h"
#include "api/kinds.h"
#include "api/meta/resource.h"
#include "apiserver/kinds/manifest.h"
#include "base/format.h"
#include "main/host/flags/schedule_files.h"

namespace volcano_main {

using api::Json;

namespace {

constexpr std::size_t kRecordsMax = 20;

// The documents of a file: YAML, JSON, one object a line, and the items of lists.
base::Status read_text(const std::string& name, const std::string& text, std::vector<Json>& documents) {
  const auto add = [&documents](const Json& document) {
    if (document["kind"].as_string().ends_with("List") && document["items"].is_array())
      for (const Json& item : document["items"].items()) documents.push_back(item);
    else
      documents.push_back(document);
  };
  // Several JSON objects, one a line.
  bool lines = text.find('\n') != std::string::npos && text.starts_with("{") && !api::parse_json(text).ok();
  for (std::size_t start = 0; lines && start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string line = text.substr(start, end - start);
    start = end + 1;
    if (line.find_first_not_of(" \r\t") == std::string::npos) continue;
    const auto parsed = api::parse_json(line);
    if (!parsed.ok()) return base::within(base::Error(parsed.error()), name);
    add(*parsed);
  }
  if (lines) return {};
  auto parsed = api::parse_yaml_documents(text);
  if (!parsed.ok()) return base::within(parsed.take_error(), name);
  for (const api::YamlDocument& document : *parsed) {
    if (!document.value.is_object())
      return base::make_error(base::Code::kInvalid, base::format("{}: line {}: not an object", name, document.line));
    add(document.value);
  }
  return {};
}

// Kinds that change what other objects mean.
constexpr std::string_view kClassKinds[] = {"PriorityClass", "RuntimeClass", "LimitRange"};

bool names_a_class(std::string_view text) {
  return std::ranges::any_of(kClassKinds, [&](std::string_view kind) {
    return memmem(text.data(), text.size(), kind.data(), kind.size()) != nullptr;
  });
}

// Large files are of one object a line, whose kind stands in front.
constexpr std::size_t kFrontBytes = 256;

bool may_hold_classes(std::string_view text) {
  if (!text.starts_with("{")) return names_a_class(text);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    const std::string_view front = line.substr(0, kFrontBytes);
    const bool reports_kind = front.find("\"kind\":\"") != std::string_view::npos;
    if (names_a_class(reports_kind ? front : line)) return true;
    start = end + 1;
  }
  return false;
}

}  // namespace

base::Result<std::vector<Json>> read_documents(const std::string& path) {
  TRY(const auto files, read_object_files(path));
  std::vector<Json> documents;
  for (const auto& [name, text] : files) TRY_VOID(read_text(name, text, documents));
  return documents;
}

void PodCompletion::look_at(const std::string& name, std::string_view text) {
  if (!may_hold_classes(text)) return;
  std::vector<Json> documents;
  if (!read_text(name, std::string(text), documents).ok()) return;
  for (const Json& document : documents) {
    const std::string_view kind = document["kind"].as_string();
    if (std::ranges::find(kClassKinds, kind) == std::end(kClassKinds)) continue;
    objects_.put(document);
    has_limit_ranges_ |= kind == "LimitRange";
    has_default_class_ |= document["globalDefault"].as_bool();
  }
}

// Most pods of large files come from a server, and say everything.
bool PodCompletion::is_needed(const Json& pod) const {
  const Json& spec = pod["spec"];
  if (has_limit_ranges_ || spec["hostNetwork"].as_bool() || !spec["runtimeClassName"].as_string().empty()) return true;
  if (spec["priority"].is_null() && (has_default_class_ || !spec["priorityClassName"].as_string().empty())) return true;
  const auto lacks_requests = [](const Json& resources) {
    const auto limits = resources["limits"].members();
    return std::any_of(limits.begin(), limits.end(),
                       [&](const Json::Member& limit) { return resources["requests"][limit.name()].is_null(); });
  };
  if (lacks_requests(spec["resources"])) return true;
  return std::ranges::any_of(std::initializer_list<const char*>{"containers", "initContainers"}, [&](const char* list) {
    const auto containers = spec[list].items();
    return std::any_of(containers.begin(), containers.end(),
                       [&](const Json& one) { return lacks_requests(one["resources"]); });
  });
}

void PodCompletion::complete(Json& pod) {
  static const api::KindInfo& kPod = *api::find_kind(api::resources::kPods);
  if (!is_needed(pod)) return;
  const base::Status completed = apiserver::complete_manifest(objects_, kPod, pod);
  if (completed.ok() || remarks_.size() == kRecordsMax) return;
  std::string remark =
      base::format("pod {}: an API server would refuse it: {}", api::key_of(pod), completed.error().message);
  if (remarked_.insert(remark).second) remarks_.push_back(std::move(remark));
}

}  // namespace volcano_main
