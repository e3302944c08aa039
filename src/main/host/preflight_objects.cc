// What a cluster has of Volcano: CRDs, webhooks, programs that run, configuration.
#include <algorithm>
#include <optional>
#include <set>

#include "api/crd.h"
#include "api/json/yaml.h"
#include "api/resource.h"
#include "base/format.h"
#include "main/host/controller_flags.h"
#include "main/host/other_installation.h"
#include "main/host/preflight.h"
#include "main/host/server_version.h"
#include "rt/bounded_files.h"
#include "scheduler/one_shot/one_shot.h"
#include "scheduler/options.h"

namespace volcano_main {
namespace {

using api::Json;
using base::Code;
using Level = Finding::Level;

constexpr std::size_t kNamedMax = 6;

std::string some_of(const std::set<std::string>& names) {
  std::string out;
  std::size_t named = 0;
  for (const std::string& name : names)
    if (named++ < kNamedMax) out += (out.empty() ? "" : ", ") + name;
  return named > kNamedMax ? base::format("{} and {} more", out, named - kNamedMax) : out;
}

base::Result<Json> get(cli::Api& api, const api::ResourceId& id, const std::string& ns, const std::string& name) {
  return api.call({.verb = client::Verb::kGet, .resource = id, .ns = ns, .name = name});
}

// The paths of all fields of a schema: "spec.tasks[].name".
void add_fields(const Json& schema, const std::string& path, std::set<std::string>& out) {
  for (const Json::Member& member : schema["properties"].members()) {
    const std::string inner = path.empty() ? std::string(member.name()) : base::format("{}.{}", path, member.name());
    out.insert(inner);
    add_fields(member.value, inner, out);
  }
  if (schema["items"].is_object()) add_fields(schema["items"], path + "[]", out);
  if (schema["additionalProperties"].is_object()) add_fields(schema["additionalProperties"], path + "{}", out);
}

const Json& version_named(const Json& crd, std::string_view name) {
  static const Json kNone;
  const Json& versions = crd["spec"]["versions"];
  for (std::size_t i = 0; i < versions.size(); ++i)
    if (versions[i]["name"].as_string() == name) return versions[i];
  return kNone;
}

void compare_crd(const std::string& name, const Json& there, const Json& ours, std::string_view version,
                 Findings& out) {
  const auto problem = [&](std::string text) { out.push_back({Level::kProblem, base::format("{} {}", name, text)}); };
  for (const char* field : {"scope"})
    if (there["spec"][field].as_string() != ours["spec"][field].as_string())
      problem(base::format("has {} {} instead of {}; that cannot be changed", field, there["spec"][field].as_string(),
                           ours["spec"][field].as_string()));
  if (there["spec"]["names"]["kind"].as_string() != ours["spec"]["names"]["kind"].as_string())
    problem(base::format("is of kind {}", there["spec"]["names"]["kind"].as_string()));
  const Json& served = version_named(there, version);
  if (served.is_null() || !served["served"].as_bool()) problem(base::format("does not serve {}", version));
  const Json& stored = there["status"]["storedVersions"];
  for (std::size_t i = 0; i < stored.size(); ++i)
    if (stored[i].as_string() != version)
      problem(base::format("has objects that are stored as {}; they have to be written anew as {} first",
                           stored[i].as_string(), version));
  std::set<std::string> before, after, lost, won;
  add_fields(served["schema"]["openAPIV3Schema"], "", before);
  add_fields(version_named(ours, version)["schema"]["openAPIV3Schema"], "", after);
  std::ranges::set_difference(before, after, std::inserter(lost, lost.end()));
  std::ranges::set_difference(after, before, std::inserter(won, won.end()));
  if (!lost.empty())
    out.push_back(
        {Level::kChange, base::format("{} loses {} fields that are not known here, and objects lose them when "
                                      "they are written: {}",
                                      name, lost.size(), some_of(lost))});
  if (!won.empty())
    out.push_back({Level::kChange, base::format("{} gets {} more fields: {}", name, won.size(), some_of(won))});
  if (lost.empty() && won.empty()) out.push_back({Level::kGood, base::format("{} has the same fields", name)});
}

bool touches_our_kinds(const Json& configuration) {
  const Json& webhooks = configuration["webhooks"];
  for (std::size_t i = 0; i < webhooks.size(); ++i) {
    const Json& rules = webhooks[i]["rules"];
    for (std::size_t j = 0; j < rules.size(); ++j)
      for (std::size_t k = 0; k < rules[j]["apiGroups"].size(); ++k)
        if (rules[j]["apiGroups"][k].as_string().ends_with("volcano.sh")) return true;
  }
  return false;
}

}  // namespace

void check_version(const Json& version, Findings& out) {
  const std::string trouble = version_trouble(version);
  if (trouble.empty())
    out.push_back({Level::kGood, base::format("Kubernetes {}", version["gitVersion"].as_string())});
  else
    out.push_back({Level::kProblem, trouble});
}

void check_crds(cli::Api& api, Findings& out) {
  const api::ResourceId crds{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
  std::set<std::string> missing;
  for (const api::KindInfo& kind : api::all_kinds()) {
    if (!kind.custom || !kind.resource.group.ends_with("volcano.sh")) continue;
    const std::string name = api::qualified_plural(kind);
    const auto there = get(api, crds, "", name);
    if (there.ok())
      compare_crd(name, *there, api::make_crd(kind), kind.resource.version, out);
    else if (there.error().code == Code::kNotFound)
      missing.insert(name);
    else
      return out.push_back({Level::kProblem, base::format("CRDs cannot be read: {}", there.error().message)});
  }
  if (!missing.empty())
    out.push_back(
        {Level::kChange, base::format("{} CRDs are not there, and come with the chart or `volcano crd | kubectl "
                                      "apply --server-side -f -`: {}",
                                      missing.size(), some_of(missing))});
}

void check_webhooks(cli::Api& api, const PreflightOptions& options, Findings& out) {
  constexpr std::string_view kOurs = "volcano-admission-service-";
  int ours = 0;
  for (const char* plural : {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}) {
    const auto list =
        api.call({.verb = client::Verb::kList, .resource = {"admissionregistration.k8s.io", "v1", plural}});
    if (!list.ok())
      return out.push_back({Level::kProblem, base::format("{} cannot be listed: {}", plural, list.error().message)});
    const Json& items = (*list)["items"];
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string name(api::name_of(items[i]));
      if (!name.starts_with(kOurs)) {
        if (touches_our_kinds(items[i]))
          out.push_back(
              {Level::kChange, base::format("{} {} judges objects of Volcano, too, and stays", plural, name)});
        continue;
      }
      ++ours;
      const Json& service = items[i]["webhooks"][std::size_t{0}]["clientConfig"]["service"];
      if (service.is_object() && service["namespace"].as_string() != options.ns)
        out.push_back({Level::kProblem, base::format("{} {} belongs to an installation in namespace {}, not {}: one "
                                                     "installation with webhooks fits into a cluster",
                                                     plural, name, service["namespace"].as_string(), options.ns)});
    }
  }
  out.push_back({ours > 0 ? Level::kGood : Level::kChange,
                 ours > 0 ? base::format("{} webhook configurations are there; ours answers for the same names", ours)
                          : std::string("there are no webhook configurations; the chart brings them")});
}

namespace {

// The scheduler names that a Deployment's program cares for, as its flags say. Of flags that cannot be read nothing is
// known, and the worst is taken for it.
std::set<std::string> names_cared_for(const Json& deployment) {
  const std::vector<std::string> words = words_of_program(deployment["spec"]["template"]);
  std::vector<std::string> names;
  if (api::label_of(deployment, "app") == "volcano-controller") {
    ControllerFlags flags;
    if (base::parse_flags(flags.rows(), words).ok()) names = flags.scheduler_names;
  } else {
    scheduler::Options flags;
    if (scheduler::parse_options(words, flags).ok()) names = flags.names();
  }
  if (names.empty()) names = {"volcano"};
  return {names.begin(), names.end()};
}

// Leases keep the replicas of one installation apart, and each has its own in its own namespace.
void check_other_namespaces(cli::Api& api, const PreflightOptions& options, Findings& out) {
  client::Request request{.verb = client::Verb::kList, .resource = {"apps", "v1", "deployments"}};
  request.label_selector = "app in (volcano-scheduler,volcano-controller)";
  const auto list = api.call(std::move(request));
  if (!list.ok())
    return out.push_back({Level::kChange, base::format("whether Volcano is installed in another namespace, too, cannot "
                                                       "be seen: {}",
                                                       list.error().message)});
  for (const Json& deployment : (*list)["items"].items()) {
    const std::string_view ns = deployment["metadata"]["namespace"].as_string();
    if (ns == options.ns || deployment["spec"]["replicas"].as_int() == 0) continue;
    const std::set<std::string> names = names_cared_for(deployment);
    const std::string what = base::format("Deployment {}/{} in namespace {} cares for the pods of scheduler {}", ns,
                                          api::name_of(deployment), ns, some_of(names));
    if (names.contains("volcano"))
      out.push_back({Level::kProblem,
                     base::format("{}, and its lease is there: both installations would decide about the same pods. "
                                  "Install into namespace {} to take its place, uninstall it, or give this one "
                                  "another custom.scheduler_name",
                                  what, ns)});
    else
      out.push_back({Level::kGood, what});
  }
}

}  // namespace

void check_programs(cli::Api& api, const PreflightOptions& options, base::Time now, Findings& out) {
  check_other_namespaces(api, options, out);
  for (const char* name : {"volcano", "vc-controller-manager"}) {
    const auto lease = get(api, api::resources::kLeases, options.ns, name);
    if (!lease.ok()) {
      if (lease.error().code != Code::kNotFound)
        out.push_back(
            {Level::kProblem, base::format("lease {}/{} cannot be read: {}", options.ns, name, lease.error().message)});
      continue;
    }
    const std::string_view holder = (*lease)["spec"]["holderIdentity"].as_string();
    const auto renewed = base::parse_rfc3339((*lease)["spec"]["renewTime"].as_string());
    // Below zero where it was renewed meanwhile, or by a clock that is ahead of ours.
    const std::int64_t seconds = renewed ? std::max<std::int64_t>((now - *renewed).ns / 1'000'000'000, 0) : -1;
    const std::int64_t lasts = (*lease)["spec"]["leaseDurationSeconds"].as_int();
    if (holder.empty() || seconds < 0 || seconds > lasts)
      out.push_back({Level::kGood, base::format("lease {}/{} is free", options.ns, name)});
    else
      out.push_back(
          {Level::kChange, base::format("lease {}/{} is held by {}, who renewed it {} s ago: ours waits until it goes",
                                        options.ns, name, holder, seconds)});
  }
  for (const std::string_view program : kPreflightPrograms) {
    const std::string name = base::format("{}-{}", options.release, program);
    const auto deployment = get(api, {"apps", "v1", "deployments"}, options.ns, name);
    if (!deployment.ok()) continue;  // nothing runs, or nobody may look
    const Json& spec = (*deployment)["spec"];
    const Json& container = spec["template"]["spec"]["containers"][std::size_t{0}];
    out.push_back({Level::kChange, base::format("Deployment {}/{} runs {} of {}, which would be replaced", options.ns,
                                                name, spec["replicas"].as_int(), container["image"].as_string())});
  }
}

namespace {

// A file of a ConfigMap, as a container sees it.
struct MapFile {
  std::string map, key;
};

// Which file of which ConfigMap is at `path` in the first container; nothing if none is.
std::optional<MapFile> file_at(const Json& pod, const std::string& path) {
  std::string volume, inner;
  std::size_t longest = 0;
  for (const Json& mount : pod["spec"]["containers"][std::size_t{0}]["volumeMounts"].items()) {
    std::string at = mount["mountPath"].str();
    while (at.ends_with('/')) at.pop_back();
    if (at.size() < longest || !(path == at || path.starts_with(at + "/"))) continue;
    longest = at.size();
    volume = mount["name"].str();
    inner = mount["subPath"].str() + path.substr(at.size());
    if (inner.starts_with('/')) inner.erase(0, 1);
  }
  for (const Json& one : pod["spec"]["volumes"].items()) {
    if (one["name"].as_string() != volume || !one["configMap"].is_object()) continue;
    const Json& items = one["configMap"]["items"];
    if (items.empty()) return MapFile{one["configMap"]["name"].str(), inner};
    for (const Json& item : items.items())
      if (item["path"].as_string() == inner) return MapFile{one["configMap"]["name"].str(), item["key"].str()};
  }
  return std::nullopt;
}

// What the installation's scheduler is configured with; nothing after a line in `out` that says why.
std::optional<MapFile> configuration_of(cli::Api& api, const PreflightOptions& options, Findings& out) {
  const auto stop = [&out](Level level, std::string text) {
    out.push_back({level, std::move(text)});
    return std::nullopt;
  };
  const std::string name = options.release + "-scheduler";
  const auto deployment = get(api, {"apps", "v1", "deployments"}, options.ns, name);
  // Without a Deployment that may be seen: as charts name it.
  if (!deployment.ok()) return MapFile{options.release + "-scheduler-configmap", "volcano-scheduler.conf"};
  const std::string where = base::format("Deployment {}/{}", options.ns, name);
  const Json& pod = (*deployment)["spec"]["template"];
  scheduler::Options flags;
  const auto read = scheduler::parse_options(words_of_program(pod), flags);
  if (!read.ok())
    return stop(Level::kChange, base::format("{}: its flags cannot be read ({}), so neither can what configures it; "
                                             "--scheduler-conf checks a file",
                                             where, read.error().message));
  const std::string& path = flags.scheduler_conf;
  if (path.empty())
    return stop(Level::kGood, base::format("{} has no --scheduler-conf: the built-in configuration is used", where));
  auto found = file_at(pod, path);
  if (!found)
    return stop(Level::kChange, base::format("{}: --scheduler-conf={} is in no ConfigMap and cannot be seen; give its "
                                             "text with --scheduler-conf",
                                             where, path));
  return found;
}

}  // namespace

void check_configuration(cli::Api& api, const PreflightOptions& options, Findings& out) {
  std::string text, where = options.config_file;
  if (!where.empty()) {
    auto read = rt::read_bounded_file(where, std::size_t{16} << 20, base::minutes(5));
    if (!read.ok()) return out.push_back({Level::kProblem, base::format("--scheduler-conf: {}", read.error().message)});
    text = *std::move(read);
  } else {
    const auto file = configuration_of(api, options, out);
    if (!file) return;
    where = base::format("ConfigMap {}/{}", options.ns, file->map);
    const auto map = get(api, api::resources::kConfigMaps, options.ns, file->map);
    if (!map.ok())
      return out.push_back({Level::kChange, base::format("{}: {}; the built-in configuration would be used", where,
                                                         map.error().message)});
    const Json& content = (*map)["data"][file->key];
    if (!content.is_string())
      return out.push_back(
          {Level::kChange,
           base::format("{} has no file {:?}; the built-in configuration would be used", where, file->key)});
    text = content.str();
    where += base::format(", file {:?}", file->key);
  }
  scheduler::OneShotOptions settings;
  settings.config = text;
  scheduler::OneShot run(settings, [] { return std::pair{0.0, 0.0}; });
  if (const base::Status taken = run.configure(); !taken.ok())
    return out.push_back({Level::kProblem, base::format("{}: {}", where, taken.error().message)});
  run.run_phase();
  for (const std::string& note : run.notes()) out.push_back({Level::kChange, base::format("{}: {}", where, note)});
  if (run.notes().empty()) out.push_back({Level::kGood, base::format("{}: every key is understood", where)});
}

}  // namespace volcano_main
