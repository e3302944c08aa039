// Reading of webhook configurations; everything that is wrong is said with its path, as Kubernetes says it.
#include <algorithm>
#include <charconv>
#include <set>

#include "api/cel/syntax.h"
#include "api/policies/reading.h"
#include "api/policies/webhook.h"
#include "api/schema/names.h"
#include "base/base64.h"
#include "base/format.h"

namespace api::policies {
namespace {

using base::Cause;

constexpr std::string_view kFailurePolicies[] = {"Fail", "Ignore"};
constexpr std::string_view kMatchPolicies[] = {"Equivalent", "Exact"};
constexpr std::string_view kReinvocations[] = {"IfNeeded", "Never"};
constexpr std::string_view kSideEffects[] = {"None", "NoneOnDryRun"};
constexpr std::string_view kUrlForm = "; desired format: https://host[/path]";
constexpr int kTimeoutDefault = 10, kTimeoutMax = 30;

// "host", "host:port", "[::1]:port", without bytes that would not stay in their line of a request.
bool is_authority(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || end == 1) return false;
    const std::string_view rest = text.substr(end + 1);
    if (rest.empty()) return true;
    if (!rest.starts_with(':')) return false;
    text = rest;
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return !text.empty();
  const std::string_view port = text.substr(colon + 1);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  return error == std::errc() && end == port.data() + port.size() && number >= 1 && number <= 65535;
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

void check_url(const Json& given, const std::string& path, Problems& problems) {
  const std::string_view text = given.as_string();
  std::string problem;
  auto parsed = cel::parse_url_reference(text, problem);
  if (parsed && (!is_printable(text) || (!parsed->host.empty() && !is_authority(parsed->host))))
    problem = base::format("parse {}: invalid host", Json(text).dump());
  if (!problem.empty())
    return problems.required(path, base::format("url must be a valid URL: {}{}", problem, kUrlForm));
  const cel::Url& url = *parsed;
  if (url.scheme != "https")
    problems.invalid(path, url.scheme, base::format("'https' is the only allowed URL scheme{}", kUrlForm));
  if (url.host.empty()) problems.invalid(path, url.host, base::format("host must be specified{}", kUrlForm));
  if (url.has_user) problems.invalid(path, url.user, "user information is not permitted in the URL");
  if (!url.fragment.empty()) problems.invalid(path, url.fragment, "fragments are not permitted in the URL");
  if (!url.query.empty()) problems.invalid(path, url.query, "query parameters are not permitted in the URL");
}

constexpr std::size_t kPathBytesMax = 4096;  // each problem of a segment shows the whole path

void check_service_path(std::string_view text, const std::string& path, Problems& problems) {
  if (text.empty() || text == "/") return;
  if (text.size() > kPathBytesMax)
    return problems.invalid(path, shortened(text), base::format("must have at most {} bytes", kPathBytesMax));
  if (text == "//") return problems.invalid(path, text, "segment[0] may not be empty");
  if (!text.starts_with('/')) problems.invalid(path, text, "must start with a '/'");
  std::string_view rest = text.starts_with('/') ? text.substr(1) : text;
  if (rest.ends_with('/')) rest.remove_suffix(1);
  for (std::size_t i = 0;; ++i) {
    const std::size_t slash = rest.find('/');
    const std::string_view step = rest.substr(0, slash);
    if (step.empty()) problems.invalid(path, text, base::format("segment[{}] may not be empty", i));
    if (!step.empty())
      for (const std::string& why : check_dns_subdomain(step))
        problems.invalid(path, text, base::format("segment[{}]: {}", i, why));
    if (slash == std::string_view::npos) return;
    rest.remove_prefix(slash + 1);
  }
}

void check_service(const Json& given, const std::string& path, Problems& problems) {
  if (given["name"].as_string().empty()) problems.required(path + ".name", "service name is required");
  if (given["namespace"].as_string().empty()) problems.required(path + ".namespace", "service namespace is required");
  if (const Json& port = given["port"]; !port.is_null() && (port.as_int() < 1 || port.as_int() > 65535))
    problems.invalid(path + ".port", port, "port is not valid: must be between 1 and 65535, inclusive");
  check_service_path(given["path"].as_string(), path + ".path", problems);
}

void check_address(const Json& config, const std::string& path, Problems& problems) {
  const bool by_url = !config["url"].is_null();
  if (by_url == config["service"].is_object())
    problems.required(path, "exactly one of url or service is required");
  else if (by_url)
    check_url(config["url"], path + ".url", problems);
  else
    check_service(config["service"], path + ".service", problems);
}

bool is_review_version(std::string_view version) { return version == "v1" || version == "v1beta1"; }

void check_review_versions(const Json& list, const std::string& path, Problems& problems) {
  if (list.empty()) return problems.required(path, "must specify one of v1, v1beta1");
  std::set<std::string> seen;
  bool known = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string version = list[i].str();
    const std::string at = base::format("{}[{}]", path, i);
    if (!seen.insert(version).second) {
      problems.invalid(at, list[i], "duplicate version");
      continue;
    }
    for (const std::string& why : check_dns1035_label(version)) problems.invalid(at, list[i], why);
    known = known || is_review_version(version);
  }
  if (!known) problems.invalid(path, list, "must include at least one of v1, v1beta1");
}

void check_name(const Json& given, const std::string& path, Problems& problems) {
  const std::string_view name = given.as_string();
  if (name.empty()) return problems.required(path);
  const auto why = check_dns_subdomain(name);
  for (const std::string& one : why) problems.invalid(path, given, one);
  if (why.empty() && std::count(name.begin(), name.end(), '.') < 2)
    problems.invalid(path, given, "should be a domain with at least three segments separated by dots");
}

// Reads one webhook and says what is wrong with it.
Webhook read_one(const Json& given, const std::string& path, bool mutating, Problems& problems) {
  Webhook out;
  out.name = given["name"].str();
  out.mutating = mutating;
  out.guard.name = out.name;
  check_name(given["name"], path + ".name", problems);
  for (std::size_t i = 0; i < given["rules"].size(); ++i) {
    out.match.rules.push_back(
        policy_detail::read_rule(given["rules"][i], base::format("{}.rules[{}]", path, i), problems));
    out.match.words += out.match.rules.back().resources.size() + 4;
  }
  if (!given["failurePolicy"].is_null())
    problems.one_of(path + ".failurePolicy", given["failurePolicy"], kFailurePolicies);
  if (!given["matchPolicy"].is_null()) problems.one_of(path + ".matchPolicy", given["matchPolicy"], kMatchPolicies);
  if (mutating && !given["reinvocationPolicy"].is_null())
    problems.one_of(path + ".reinvocationPolicy", given["reinvocationPolicy"], kReinvocations);
  const std::string_view effects = given["sideEffects"].as_string();
  if (given["sideEffects"].is_null())
    problems.required(path + ".sideEffects", "must specify one of None, NoneOnDryRun");
  else
    problems.one_of(path + ".sideEffects", given["sideEffects"], kSideEffects);
  const std::int64_t timeout = given["timeoutSeconds"].as_int(kTimeoutDefault);
  if (timeout < 1 || timeout > kTimeoutMax)
    problems.invalid(path + ".timeoutSeconds", given["timeoutSeconds"],
                     "the timeout value must be between 1 and 30 seconds");
  out.match.namespaces =
      policy_detail::read_selector(given["namespaceSelector"], path + ".namespaceSelector", problems);
  out.match.objects = policy_detail::read_selector(given["objectSelector"], path + ".objectSelector", problems);
  check_address(given["clientConfig"], path + ".clientConfig", problems);
  policy_detail::read_plain_conditions(given["matchConditions"], path + ".matchConditions", out.guard, problems);
  check_review_versions(given["admissionReviewVersions"], path + ".admissionReviewVersions", problems);
  out.exact = given["matchPolicy"].as_string() == "Exact";
  out.ignores_failures = given["failurePolicy"].as_string() == "Ignore";
  out.guard.ignores_failures = out.ignores_failures;
  out.reinvoked = given["reinvocationPolicy"].as_string() == "IfNeeded";
  out.has_side_effects = effects != "None" && effects != "NoneOnDryRun";
  out.timeout_seconds = static_cast<int>(std::clamp<std::int64_t>(timeout, 1, kTimeoutMax));
  for (const Json& version : given["admissionReviewVersions"].items())
    if (out.review_version.empty() && is_review_version(version.as_string())) out.review_version = version.str();
  if (auto address = read_webhook_address(given["clientConfig"])) out.address = *std::move(address);
  return out;
}

bool is_mutating(const Json& object) { return kind_of(object) == "MutatingWebhookConfiguration"; }

}  // namespace

bool is_webhook_kind(const ResourceId& resource) {
  return resource == kValidatingWebhooks || resource == kMutatingWebhooks;
}

std::string WebhookAddress::text() const {
  if (!url.empty()) return url;
  return base::format("https://{}.{}.svc:{}{}", service_name, service_ns, port, path.empty() ? "/" : path);
}

std::optional<WebhookAddress> read_webhook_address(const Json& config) {
  std::vector<Cause> causes;
  check_webhook_address(config, "", causes);
  if (!causes.empty()) return std::nullopt;
  WebhookAddress out;
  out.url = config["url"].str();
  const Json& service = config["service"];
  out.service_ns = service["namespace"].str();
  out.service_name = service["name"].str();
  out.path = service["path"].str();
  out.port = static_cast<std::uint16_t>(service["port"].as_int(443));
  if (auto pem = base::base64_decode(config["caBundle"].as_string()); pem.ok()) out.ca_pem = *std::move(pem);
  return out;
}

void check_webhook_address(const Json& config, const std::string& path, std::vector<Cause>& causes) {
  Problems problems(causes);
  check_address(config, path, problems);
}

void check_webhook_review_versions(const Json& list, const std::string& path, std::vector<Cause>& causes) {
  Problems problems(causes);
  check_review_versions(list, path, problems);
}

void apply_webhook_defaults(Json& object) {
  if (!object["webhooks"].is_array()) return;
  const bool mutating = is_mutating(object);
  const auto fill = [](Json& in, const char* key, Json value) {
    if (in[key].is_null()) in.set(key, std::move(value));
  };
  Json& list = object.edit("webhooks");
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_object()) continue;
    Json& one = list.edit(i);
    fill(one, "failurePolicy", "Fail");
    fill(one, "matchPolicy", "Equivalent");
    fill(one, "namespaceSelector", Json::object());
    fill(one, "objectSelector", Json::object());
    fill(one, "timeoutSeconds", kTimeoutDefault);
    if (mutating) fill(one, "reinvocationPolicy", "Never");
    for (std::size_t k = 0; k < one["rules"].items().size(); ++k)
      if (one["rules"][k].is_object()) fill(one.edit("rules").edit(k), "scope", "*");
    if (one["clientConfig"].is_object() && one["clientConfig"]["service"].is_object())
      fill(one.edit("clientConfig").edit("service"), "port", 443);
  }
}

void check_webhooks(const Json& object, const Json& before, std::vector<Cause>& causes) {
  if (before.is_object() && object["webhooks"] == before["webhooks"]) return;
  Problems problems(causes);
  std::set<std::string> names;
  const Json& list = object["webhooks"];
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = base::format("webhooks[{}]", i);
    const Webhook one = read_one(list[i], path, is_mutating(object), problems);
    for (const char* selector : {"namespaceSelector", "objectSelector"})
      policy_detail::check_selector_names(list[i][selector], base::format("{}.{}", path, selector), problems);
    if (!one.name.empty() && !names.insert(one.name).second) problems.duplicate(path + ".name", one.name);
  }
}

std::vector<WebhookPtr> read_webhooks(const Json& object) {
  std::vector<WebhookPtr> out;
  for (const Json& given : object["webhooks"].items()) {
    std::vector<Cause> causes;
    Problems problems(causes);
    auto one = std::make_shared<Webhook>(read_one(given, "", is_mutating(object), problems));
    one->configuration = name_of(object);
    if (causes.empty()) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace api::policies
