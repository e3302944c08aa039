// Pods of a second scheduler or of second controllers.
#include "main/host/base/other_installation.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"

namespace volcano_main {
namespace {

using api::Json;

constexpr base::Duration kLook = base::minutes(1);
constexpr std::size_t kNamedMax = 3;

std::string lease_of(const Installation& one) {
  return one.elects ? base::format("lease {}/{}", one.lease_namespace, one.lease_name) : "no lease";
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<std::string> without(const std::vector<std::string>& names, const std::vector<std::string>& others) {
  std::vector<std::string> rest;
  for (const std::string& name : names)
    if (std::ranges::find(others, name) == others.end()) rest.push_back(name);
  return rest;
}

}  // namespace

std::vector<std::string> words_of_program(const Json& pod) {
  std::vector<std::string> words;
  const Json& container = pod["spec"]["containers"][std::size_t{0}];
  for (const char* field : {"command", "args"})
    for (const Json& word : container[field].items()) words.push_back(word.str());
  return words;
}

std::string conflict_with(const Json& pod, const OtherInstallationOptions& options) {
  const std::string_view ns = pod["metadata"]["namespace"].as_string();
  if (pod["status"]["phase"].as_string() != "Running" || pod["metadata"].has("deletionTimestamp")) return {};
  const std::optional<Installation> read = options.read(words_of_program(pod));
  const Installation other = read ? *read : Installation{.scheduler_names = {"volcano"}, .elects = false};
  const Installation& own = options.own;
  if (own.shares || other.shares) return {};
  const std::vector<std::string> unserved = without(own.scheduler_names, other.scheduler_names);
  if (own.elects && other.elects && own.lease_namespace == other.lease_namespace && own.lease_name == other.lease_name)
    return unserved.empty() ? std::string()  // one of them stands by
                            : base::format(
                                  "pod {}/{} is of another installation that has {}, too, so one waits for the "
                                  "other, and nobody cares for the pods of scheduler {} while that one leads",
                                  ns, pod["metadata"]["name"].as_string(), lease_of(own), joined(unserved));
  if (ns == options.ns) return {};  // this pod itself, or one that takes its place
  const std::vector<std::string> both = without(own.scheduler_names, unserved);
  if (both.empty() && !own.all_jobs) return {};
  return base::format(
      "pod {}/{} is of a second installation in namespace {}: it has {}, this one {}, so neither waits for the other, "
      "and both {}",
      ns, pod["metadata"]["name"].as_string(), ns, lease_of(other), lease_of(own),
      own.all_jobs ? "work on all Jobs and Queues" : "care for the pods of scheduler " + joined(both));
}

OtherInstallations::OtherInstallations(rt::Env& env, client::Client& client, OtherInstallationOptions options)
    : env_(env), client_(client), options_(std::move(options)) {}

void OtherInstallations::start() { look(); }

void OtherInstallations::look() {
  client_.call({.verb = client::Verb::kList,
                .resource = api::resources::kPods,
                .ns = {},
                .name = {},
                .subresource = {},
                .label_selector = "app=" + options_.app,
                .resource_version = "0"},
               [this, weak = std::weak_ptr<int>(alive_)](const base::Result<Json>& pods) {
                 if (!weak.expired()) take(pods);
               });
}

// A server that refuses or is not there is told by those who need it.
void OtherInstallations::take(const base::Result<Json>& pods) {
  if (pods.ok()) {
    std::string trouble;
    std::size_t found = 0;
    for (const Json& pod : (*pods)["items"].items()) {
      const std::string one = conflict_with(pod, options_);
      if (one.empty() || ++found > kNamedMax) continue;
      trouble += (trouble.empty() ? "" : "; ") + one;
    }
    if (std::exchange(reported_, trouble) != trouble) {
      if (trouble.empty())
        base::log_info(options_.program, "no second installation cares for the same pods any more");
      else
        base::log_error(
            options_.program,
            base::format("{}. Uninstall one of them, or stop it (kubectl -n NAMESPACE scale deployment "
                         "--replicas=0 ...){}",
                         trouble, options_.own.all_jobs ? "" : ", or give one another --scheduler-name and lease"));
    }
  }
  env_.loop().after(kLook, [this, weak = std::weak_ptr<int>(alive_)] {
    if (!weak.expired()) look();
  });
}

}  // namespace volcano_main
