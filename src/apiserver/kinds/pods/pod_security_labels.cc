// Reading labels, finding templates, and saying what does not meet the standard.
#include "apiserver/kinds/pods/pod_security_labels.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "api/json/problems.h"
#include "api/kinds.h"
#include "base/format.h"
#include "store/store.h"

namespace apiserver {

using api::Json;
using base::format;

namespace {

constexpr std::string_view kPrefix = "pod-security.kubernetes.io/";

std::optional<SecurityLevel> level_of(std::string_view text) {
  if (text == "privileged") return SecurityLevel::kPrivileged;
  if (text == "baseline") return SecurityLevel::kBaseline;
  if (text == "restricted") return SecurityLevel::kRestricted;
  return {};
}

std::optional<int> minor_of(std::string_view text) {
  if (text == "latest") return kLatestMinor;
  if (!text.starts_with("v1.")) return {};
  text.remove_prefix(3);
  if (text.empty() || (text.size() > 1 && text[0] == '0') || text[0] == '-') return {};
  int minor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), minor);
  if (error != std::errc() || end != text.data() + text.size() || minor == kLatestMinor) return {};
  return minor;
}

// One mode's two labels. False: the level is there and is none.
bool read_mode(const Json& labels, const std::string& mode, SecurityStandard& standard,
               std::vector<base::Cause>& causes) {
  const auto wrong = [&](const std::string& label, const Json& value, std::string_view why) {
    causes.push_back({"FieldValueInvalid", format("Invalid value: {}: {}", api::shown(value), why),
                      format("metadata.labels[{}]", label)});
  };
  const std::string label = std::string(kPrefix) + mode, version_label = label + "-version";
  bool good = true;
  if (const Json* value = labels.find(label)) {
    const auto level = level_of(value->as_string());
    if (level) standard.level = *level;
    if (!level) wrong(label, *value, "must be one of privileged, baseline, restricted");
    good = level.has_value();
  }
  if (const Json* value = labels.find(version_label)) {
    const auto minor = minor_of(value->as_string());
    if (minor) standard.minor = *minor;
    if (!minor) wrong(version_label, *value, R"(must be "latest" or "v1.x")");
  }
  return good;
}

bool is_free(const SecurityStandard& standard) { return standard.level == SecurityLevel::kPrivileged; }

// Images are all that a pod may change and that matters; containers may be added to look into it.
bool changes_what_matters(const Json& pod, const Json& before) {
  for (const char* list : {"containers", "initContainers"}) {
    const auto now = pod["spec"][list].items(), then = before["spec"][list].items();
    if (!std::ranges::equal(
            now, then, [](const Json& a, const Json& b) { return a["image"].as_string() == b["image"].as_string(); }))
      return true;
  }
  std::map<std::string, std::string> images;
  for (const Json& one : before["spec"]["ephemeralContainers"].items())
    images.emplace(one["name"].str(), one["image"].str());
  return std::ranges::any_of(pod["spec"]["ephemeralContainers"].items(), [&](const Json& one) {
    const auto found = images.find(one["name"].str());
    return found == images.end() || found->second != one["image"].as_string();
  });
}

struct Template {
  Json pod;
  std::string whose = {};  // `task "w" `, where an object has several
};

std::vector<Template> templates_of(const api::ResourceId& resource, const Json& object) {
  const auto is = [&](std::string_view group, std::string_view plural) {
    return resource.group == group && resource.plural == plural;
  };
  std::vector<Template> found;
  if (is("batch.volcano.sh", "jobs"))
    for (const Json& task : object["spec"]["tasks"].items())
      found.push_back({task["template"], format("task \"{}\" ", task["name"].as_string())});
  if (is("", "podtemplates")) found.push_back({object["template"]});
  if (is("batch", "cronjobs")) found.push_back({object["spec"]["jobTemplate"]["spec"]["template"]});
  if (is("batch", "jobs") || is("", "replicationcontrollers") || resource.group == "apps")
    found.push_back({object["spec"]["template"]});
  std::erase_if(found, [](const Template& one) { return !one.pod["spec"].is_object(); });
  return found;
}

bool may_concern(const api::AdmissionRequest& request) {
  const std::string& group = request.resource.group;
  if (request.resource.plural == "pods" && group.empty())
    return request.subresource.empty() || request.subresource == "ephemeralcontainers";
  return request.subresource.empty() &&
         (group.empty() || group == "apps" || group == "batch" || group == "batch.volcano.sh");
}

// Each of thousands of containers may be named in each of twelve problems; a warning of more would be cut to a few
// words.
constexpr std::size_t kTextMax = 3072;

// Equal standards are asked once.
class Judge {
 public:
  explicit Judge(const Json& pod) : pod_(pod) {}

  // `violates PodSecurity "baseline:latest": privileged (...)` without its first word; empty: it meets it.
  std::string violation(const SecurityStandard& standard) {
    if (is_free(standard)) return {};
    for (const auto& [known, text] : warned_)
      if (known == standard) return text;
    const std::vector<SecurityProblem> problems = security_problems(pod_, standard);
    std::string text;
    if (!problems.empty())
      text = format("PodSecurity \"{}\": {}", standard.text(), api::shortened(in_detail(problems), kTextMax));
    return warned_.emplace_back(standard, std::move(text)).second;
  }

 private:
  const Json& pod_;
  std::vector<std::pair<SecurityStandard, std::string>> warned_;
};

}  // namespace

SecurityPolicy read_security_policy(const Json& labels, std::vector<base::Cause>& causes) {
  SecurityPolicy policy;
  const bool enforces = read_mode(labels, "enforce", policy.enforce, causes);
  if (!enforces) policy.enforce.level = SecurityLevel::kRestricted;
  read_mode(labels, "audit", policy.audit, causes);
  read_mode(labels, "warn", policy.warn, causes);
  // A namespace that refuses pods warns of templates, too.
  const bool silent = !labels.has(std::string(kPrefix) + "warn");
  if (silent && enforces && policy.enforce.level > policy.warn.level) {
    policy.warn.level = policy.enforce.level;
    if (!labels.has(std::string(kPrefix) + "warn-version")) policy.warn.minor = policy.enforce.minor;
  }
  return policy;
}

SecurityAnswer judge_pods(const api::AdmissionRequest& request, const api::ObjectReader& objects) {
  SecurityAnswer answer;
  if (request.ns.empty() || !may_concern(request)) return answer;
  const bool is_pod = request.resource == api::resources::kPods;
  const std::vector<Template> templates =
      is_pod ? std::vector<Template>{{request.object}} : templates_of(request.resource, request.object);
  if (templates.empty()) return answer;
  if (is_pod && !request.old_object.is_null() && !changes_what_matters(request.object, request.old_object))
    return answer;
  const auto space = objects.find(api::resources::kNamespaces, "", request.ns);
  if (!space) return answer;
  std::vector<base::Cause> ignored;
  const SecurityPolicy policy = read_security_policy((*space)["metadata"]["labels"], ignored);
  for (const Template& one : templates) {
    if (answer.warnings.size() >= api::kProblemsMax) break;
    Judge judge(one.pod);
    if (is_pod)
      if (const std::string text = judge.violation(policy.enforce); !text.empty()) answer.refusal = "violates " + text;
    const std::string audited = judge.violation(policy.audit);
    if (!audited.empty() && answer.audit_annotation.size() < kTextMax)
      answer.audit_annotation +=
          format("{}{}would violate {}", answer.audit_annotation.empty() ? "" : "; ", one.whose, audited);
    if (!answer.refusal.empty()) continue;
    if (const std::string text = judge.violation(policy.warn); !text.empty())
      answer.warnings.push_back(format("{}would violate {}", one.whose, text));
  }
  if (!answer.audit_annotation.empty())
    answer.audit_annotation = format("{}audit-violations={}", kPrefix, answer.audit_annotation);
  return answer;
}

std::vector<std::string> warnings_of_pods(const store::Store& store, const Json& before, const Json& after) {
  // This is done on the server's loop: so much is read in some ten milliseconds.
  constexpr std::size_t kPodsMax = 500, kBytesMax = std::size_t{1} << 20, kPodBytesMax = std::size_t{64} << 10;
  static const auto kPodsIndex =
      static_cast<std::uint32_t>(api::find_kind(api::resources::kPods) - api::all_kinds().data());
  std::vector<base::Cause> ignored;
  const SecurityStandard now = read_security_policy(after["metadata"]["labels"], ignored).enforce;
  const SecurityStandard then = read_security_policy(before["metadata"]["labels"], ignored).enforce;
  if (is_free(now) || now == then || (now.minor == then.minor && now.level < then.level)) return {};
  const std::string space(api::name_of(after));
  std::size_t seen = 0, read = 0, bytes = 0;
  std::map<std::string, std::vector<std::string>> names;  // by what is wrong
  store.for_each(kPodsIndex, space, "", store::View::kLatest, [&](const store::ObjectPtr& pod) {
    ++seen;
    if (read >= kPodsMax || pod->bytes.size() > kPodBytesMax) return true;
    bytes += pod->bytes.size();
    if (bytes > kBytesMax) return true;
    ++read;
    const auto problems = security_problems(pod->json(), now);
    if (!problems.empty()) names[in_short(problems)].push_back(pod->name);
    return true;
  });
  std::vector<std::string> out;
  if (read < seen)
    out.push_back(
        format("new PodSecurity enforce level only checked against the first {} of {} existing pods", read, seen));
  if (!names.empty())
    out.push_back(format("existing pods in namespace \"{}\" violate the new PodSecurity enforce level \"{}\"", space,
                         now.text()));
  std::vector<std::string> lines;
  for (const auto& [what, pods] : names) {
    const std::size_t others = pods.size() - 1;
    const std::string more = others == 0 ? "" : format(" (and {} other {})", others, others == 1 ? "pod" : "pods");
    lines.push_back(format("{}{}: {}", pods.front(), more, what));
  }
  std::ranges::sort(lines);
  out.insert(out.end(), lines.begin(), lines.end());
  return out;
}

}  // namespace apiserver
