// `volcano admit`: what admission says to manifests and to AdmissionReviews in files.
#include <iostream>

#include "admission/server/review.h"
#include "api/json/yaml.h"
#include "api/kinds.h"
#include "api/meta/resource.h"
#include "apiserver/kinds/manifest.h"
#include "base/base64.h"
#include "base/format.h"
#include "cli/text/terminal_text.h"
#include "main/host/flags/manifests.h"
#include "main/host/flags/webhook_flags.h"
#include "main/programs/programs.h"

namespace volcano_main {
namespace {

using api::Json;

// A line of a comment: a text that somebody wrote neither ends it nor moves a terminal's cursor.
std::string comment(const std::string& text) {
  std::string line = "# " + cli::for_terminal(text);
  for (std::size_t at = line.find('\n'); at != std::string::npos; at = line.find('\n', at)) line.replace(at, 1, "\\n");
  return line + "\n";
}

// The rules see the object as an API server has filled it in.
admission::ManifestAnswer answer_to(const Json& manifest, const std::vector<api::AdmissionHook>& hooks,
                                    const admission::ObjectSet& objects) {
  const api::KindInfo* kind = api::find_kind_named(manifest["apiVersion"].as_string(), manifest["kind"].as_string());
  if (kind == nullptr || kind->custom || !manifest["metadata"].is_object())
    return admission::admit_manifest(manifest, hooks, objects);
  Json object = manifest;
  if (kind->namespaced && api::namespace_of(object).empty()) object.edit("metadata").set("namespace", "default");
  if (base::Status completed = apiserver::complete_manifest(objects, *kind, object); !completed.ok()) {
    api::AdmissionAnswer refusal;
    refusal.allowed = false;
    refusal.message = completed.error().message;
    return {std::move(refusal), {}};
  }
  return admission::admit_manifest(object, hooks, objects);
}

// The queues that are there in every cluster.
void put_own_queues(admission::ObjectSet& objects) {
  for (const char* name : {"root", "default"})
    objects.put(Json::object({{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                              {"kind", "Queue"},
                              {"metadata", Json::object({{"name", name}})},
                              {"spec", Json::object({{"weight", 1}})},
                              {"status", Json::object({{"state", "Open"}})}}));
}

// True if it was refused.
bool print_manifest(const Json& manifest, const std::vector<api::AdmissionHook>& hooks, admission::ObjectSet& objects,
                    bool json) {
  const auto [answer, refused_by] = answer_to(manifest, hooks, objects);
  const std::string name =
      base::format("{} {}", api::kind_of(manifest), api::key_of(answer.object ? *answer.object : manifest));
  if (json) {
    Json warnings = Json::array();
    for (const std::string& warning : answer.warnings) warnings.push_back(warning);
    Json line =
        Json::object({{"kind", api::kind_of(manifest)}, {"name", api::name_of(manifest)}, {"allowed", answer.allowed}});
    if (!api::namespace_of(manifest).empty()) line.set("namespace", api::namespace_of(manifest));
    if (!answer.allowed) line.set("message", answer.message);
    if (!refused_by.empty()) line.set("webhook", refused_by);
    if (!warnings.empty()) line.set("warnings", std::move(warnings));
    if (answer.object) line.set("object", *answer.object);
    std::cout << cli::for_terminal(line.dump()) << "\n";
  } else {
    for (const std::string& warning : answer.warnings) std::cout << comment("warning: " + warning);
    if (answer.allowed)
      std::cout << comment(name + ": allowed") << (answer.object ? api::to_yaml(answer.object->sorted()) : "")
                << "---\n";
    else
      std::cout << comment(base::format("{}: refused{}{}: {}", name, refused_by.empty() ? "" : " by ", refused_by,
                                        answer.message))
                << "---\n";
  }
  // An admitted object is there for those after it.
  if (answer.allowed && answer.object) objects.put(*answer.object);
  return !answer.allowed;
}

base::Result<bool> print_review(const Json& review, const std::vector<api::AdmissionHook>& hooks,
                                const std::string& path, const api::ObjectReader& objects) {
  TRY(api::AdmissionRequest request, admission::read_review(review));
  for (const bool mutating : {true, false})
    for (const api::AdmissionHook& hook : hooks) {
      if (hook.mutating != mutating || (path.empty() ? !admission::applies(hook, request) : hook.path != path))
        continue;
      const api::AdmissionAnswer answer = hook.review(request, objects);
      std::cout << cli::for_terminal(admission::answer_review(review, request, answer, base::base64_encode).dump())
                << "\n";
      if (!answer.allowed) return true;
      if (path.empty() && answer.object) request.object = *answer.object;
    }
  return false;
}

int fail(const std::string& message) {
  std::cerr << "volcano admit: " << cli::for_terminal(message) << "\n";
  return 2;
}

}  // namespace

int run_admit(const Arguments& arguments) {
  WebhookFlags options;
  options.enabled +=
      ",/podgroups/validate,/hypernodes/validate,/cronjobs/validate,/jobflows/validate,/jobtemplates/validate";
  std::vector<std::string> existing;
  std::string path;
  std::string output = "yaml";
  std::vector<base::Flag> flags = options.rows();
  flags.push_back({"existing", &existing, "file or folder of objects that rules look up; may be given several times"});
  flags.push_back({"path", &path, "answer AdmissionReviews as this one webhook: /jobs/validate"});
  flags.push_back({"output", &output, "json: one line for each object", 'o'});
  if (base::asks_for_help(arguments))
    return std::cout << "usage: volcano admit [flags] FILE|-...\n\nflags:\n" << base::flags_help(flags), 0;
  const auto files = base::parse_flags(flags, arguments);
  if (!files.ok()) return fail(files.error().message);
  if (files->rest.empty()) return fail("no file is given");
  if (output != "yaml" && output != "json")
    return fail(base::format("--output: \"{}\" is neither yaml nor json", output));
  auto rules = options.admission();
  if (!rules.ok()) return fail(rules.error().message);
  auto pod_rules = options.pod_rules();
  if (!pod_rules.ok()) return fail(pod_rules.error().message);
  rules->pod_rules = *std::move(pod_rules);
  const auto hooks = admission::hooks(*rules);
  rules->in_process = false;
  const auto webhooks = admission::hooks(*rules);  // reviews are what webhooks are asked
  if (!path.empty() && admission::webhook_name(path).empty()) return fail("no webhook answers at " + path);
  // A webhook that is asked about a review sees what is given, and nothing else.
  admission::ObjectSet objects, given;
  put_own_queues(objects);
  for (const std::string& file : existing) {
    const auto documents = read_documents(file);
    if (!documents.ok()) return fail(documents.error().message);
    for (const Json& document : *documents) objects.put(document), given.put(document);
  }
  bool refused = false;
  for (const std::string& file : files->rest) {
    const auto documents = read_documents(file);
    if (!documents.ok()) return fail(documents.error().message);
    for (const Json& document : *documents) {
      if (document["kind"].as_string() != "AdmissionReview") {
        refused = print_manifest(document, hooks, objects, output == "json") || refused;
        continue;
      }
      const auto answered = print_review(document, webhooks, path, given);
      if (!answered.ok()) return fail(file + ": " + answered.error().message);
      refused = *answered || refused;
    }
  }
  return refused ? 1 : 0;
}

}  // namespace volcano_main
