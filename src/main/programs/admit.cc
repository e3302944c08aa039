// `volcano admit`: what admission says to manifests and to AdmissionReviews in files.
#include <iostream>

#include "admission/review.h"
#include "api/json/yaml.h"
#include "api/resource.h"
#include "base/base64.h"
#include "base/format.h"
#include "cli/terminal_text.h"
#include "main/host/schedule_files.h"
#include "main/host/webhook_flags.h"
#include "main/programs.h"

namespace volcano_main {
namespace {

using api::Json;

// The documents of a file: YAML, JSON, one object a line, and the items of lists.
base::Result<std::vector<Json>> read_documents(const std::string& path) {
  TRY(const auto files, read_object_files(path));
  std::vector<Json> documents;
  const auto add = [&documents](const Json& document) {
    if (document["kind"].as_string().ends_with("List") && document["items"].is_array())
      for (const Json& item : document["items"].items()) documents.push_back(item);
    else
      documents.push_back(document);
  };
  for (const auto& [name, text] : files) {
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
    if (lines) continue;
    auto parsed = api::parse_yaml_documents(text);
    if (!parsed.ok()) return base::within(parsed.take_error(), name);
    for (const api::YamlDocument& document : *parsed) {
      if (!document.value.is_object())
        return base::make_error(base::Code::kInvalid, base::format("{}: line {}: not an object", name, document.line));
      add(document.value);
    }
  }
  return documents;
}

// A line of a comment: a text that somebody wrote neither ends it nor moves a terminal's cursor.
std::string comment(const std::string& text) {
  std::string line = "# " + cli::for_terminal(text);
  for (std::size_t at = line.find('\n'); at != std::string::npos; at = line.find('\n', at)) line.replace(at, 1, "\\n");
  return line + "\n";
}

// True if it was refused.
bool print_manifest(const Json& manifest, const std::vector<api::AdmissionHook>& hooks, admission::ObjectSet& objects,
                    bool json) {
  const auto [answer, refused_by] = admission::admit_manifest(manifest, hooks, objects);
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
  // What was admitted is there for those after it.
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
  options.enabled += ",/podgroups/validate,/hypernodes/validate,/cronjobs/validate,/jobflows/validate";
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
  admission::ObjectSet objects;
  for (const std::string& file : existing) {
    const auto documents = read_documents(file);
    if (!documents.ok()) return fail(documents.error().message);
    for (const Json& document : *documents) objects.put(document);
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
      const auto answered = print_review(document, webhooks, path, objects);
      if (!answered.ok()) return fail(file + ": " + answered.error().message);
      refused = *answered || refused;
    }
  }
  return refused ? 1 : 0;
}

}  // namespace volcano_main
