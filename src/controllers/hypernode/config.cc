// The YAML of the discovery, checked entry by entry.
#include "controllers/hypernode/config.h"

#include <algorithm>
#include <set>

#include "api/json/yaml.h"
#include "base/format.h"
#include "rt/http/url.h"

namespace controllers::hypernode {

using api::Json;

namespace {

constexpr std::size_t kTypeNameMax = 20;
constexpr std::size_t kTypesMax = 100;
constexpr std::size_t kLabelsMax = 100;

base::Duration interval_of(const Json& text) {
  const auto parsed = base::parse_go_duration(text.as_string());
  return parsed && parsed->ns > 0 ? *parsed : base::hours(1);
}

// The labels of one type; `problem` says what is wrong with them.
TopologyType read_type(std::string_view name, const Json& levels, std::string& problem) {
  TopologyType type{.name = std::string(name), .node_labels = {}};
  const auto wrong = [&](std::string text) {
    problem = base::format("networkTopologyTypes: type {:?}: {}", name, text);
  };
  if (name.empty() || name.size() > kTypeNameMax) wrong(base::format("a name has 1 to {} characters", kTypeNameMax));
  if (!levels.is_array() || levels.empty() || levels.size() > kLabelsMax)
    wrong(base::format("it is a list of 1 to {} entries with nodeLabel", kLabelsMax));
  std::set<std::string_view> seen;
  for (const Json& level : levels.items()) {
    const std::string_view label = level["nodeLabel"].as_string();
    if (label.empty()) wrong("nodeLabel is missing");
    if (!seen.insert(label).second) wrong(base::format("nodeLabel {:?} is there twice", label));
    type.node_labels.emplace_back(label);
  }
  return type;
}

void read_label(const Json& config, Source& source) {
  const Json& types = config["networkTopologyTypes"];
  if (!types.is_object() || types.empty()) source.problem = "config.networkTopologyTypes is missing";
  if (types.size() > kTypesMax) source.problem = base::format("more than {} networkTopologyTypes", kTypesMax);
  if (!source.problem.empty()) return;
  for (const Json::Member& member : types.members())
    source.types.push_back(read_type(member.name(), member.value, source.problem));
  std::ranges::sort(source.types, {}, &TopologyType::name);
}

void read_ufm(const Json& entry, Source& source) {
  const Json& secret = entry["credentials"]["secretRef"];
  UfmConfig& ufm = source.ufm;
  ufm.insecure_skip_verify = entry["config"]["insecureSkipVerify"].as_bool();
  ufm.secret_name = secret["name"].str();
  ufm.secret_namespace = secret["namespace"].str();
  if (ufm.secret_name.empty() || ufm.secret_namespace.empty())
    source.problem = "credentials.secretRef needs a name and a namespace";
  std::string endpoint = entry["config"]["endpoint"].str();
  if (endpoint.empty()) {
    source.problem = "config.endpoint is missing";
    return;
  }
  if (endpoint.find("://") == std::string::npos) endpoint.insert(0, "https://");
  auto url = rt::parse_server_url(endpoint);
  if (!url.ok()) {
    source.problem = "config.endpoint: " + url.error().message;
    return;
  }
  while (url->path.ends_with('/')) url->path.pop_back();
  ufm.tls = url->tls;
  ufm.host = url->host;
  ufm.port = url->port;
  ufm.path = url->path;
}

}  // namespace

base::Result<std::vector<Source>> parse_discovery(std::string_view yaml) {
  TRY(const Json document, api::parse_yaml(yaml));
  if (!document.is_null() && !document.is_object())
    return base::make_error(base::Code::kInvalid, "it is not a map with networkTopologyDiscovery");
  const Json& entries = document["networkTopologyDiscovery"];
  if (!entries.is_null() && !entries.is_array())
    return base::make_error(base::Code::kInvalid, "networkTopologyDiscovery is not a list");
  std::vector<Source> sources;
  for (const Json& entry : entries.items()) {
    Source source{.name = entry["source"].str(), .interval = interval_of(entry["interval"])};
    if (source.name.empty()) return base::make_error(base::Code::kInvalid, "an entry has no source");
    std::erase_if(sources, [&](const Source& one) { return one.name == source.name; });
    const Json& enabled = entry["enabled"];
    if (enabled.is_null() || (enabled.is_bool() && !enabled.as_bool())) continue;
    if (!enabled.is_bool())
      source.problem = "enabled is neither true nor false";
    else if (source.name == "label")
      read_label(entry["config"], source);
    else if (source.name == "ufm")
      read_ufm(entry, source);
    else
      source.problem = "unsupported discoverer type: " + source.name;
    sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace controllers::hypernode
