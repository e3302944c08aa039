// Resources and probes of containers.
#include <array>

#include "api/pods/names.h"
#include "api/pods/parts.h"
#include "api/schema/quantity.h"
#include "base/format.h"

namespace api {

namespace {

bool is_native(std::string_view name) {
  return name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos;
}
bool is_standard(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || name.starts_with("hugepages-");
}
bool may_be_overcommitted(std::string_view name) { return is_native(name) && !name.starts_with("hugepages-"); }

// Names that only quotas and other objects use.
bool is_known_elsewhere(std::string_view name) {
  for (const char* one : {"pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps",
                          "persistentvolumeclaims", "storage", "services.nodeports", "services.loadbalancers",
                          "requests.cpu", "requests.memory", "requests.ephemeral-storage", "requests.storage",
                          "limits.cpu", "limits.memory", "limits.ephemeral-storage"})
    if (name == one) return true;
  return false;
}

constexpr std::array<std::string_view, 3> kPodLevel = {"cpu", "hugepages-", "memory"};

void check_pod_level_name(std::string_view name, const std::string& path, FieldErrors& errors) {
  if (const auto problems = check_qualified_name(name); !problems.empty()) return errors.invalid(path, name, problems);
  if (name.find('/') == std::string_view::npos && !is_standard(name) && !is_known_elsewhere(name))
    return errors.invalid(path, name, "must be a standard resource type or fully qualified");
  if (!name.starts_with("hugepages-")) errors.one_of(path, name, kPodLevel);
}

void check_name(std::string_view name, const std::string& path, ResourcesOf whose, FieldErrors& errors) {
  if (whose == ResourcesOf::kPod) return check_pod_level_name(name, path, errors);
  check_container_resource_name(name, path, errors);
}

void check_amount(std::string_view name, const Json& value, const std::string& path, FieldErrors& errors) {
  const auto quantity = Quantity::from_json(value);
  if (!quantity) {
    errors.invalid(path, value,
                   "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    return;
  }
  if (quantity->sign() < 0) errors.invalid(path, quantity->to_json(), "must be greater than or equal to 0");
  if (!is_native(name) && quantity->milli_value() % 1000 != 0)
    errors.invalid(path, quantity->to_json(), "must be an integer");
  if (!name.starts_with("hugepages-")) return;
  const auto page = Quantity::parse(name.substr(sizeof("hugepages-") - 1));
  if (!page || page->sign() <= 0 || page->milli_value() % 1000 != 0 || quantity->value() % page->value() != 0)
    errors.invalid(path, quantity->to_json(),
                   base::format("{} is not positive integer multiple of {}", quantity->to_string(), name));
}

}  // namespace

void check_resource_name(std::string_view name, const std::string& path, FieldErrors& errors) {
  if (is_standard(name)) return;
  const auto problems = check_qualified_name(name);
  errors.invalid(path, name, problems);
  if (problems.empty() && name.find('/') == std::string_view::npos && !is_known_elsewhere(name))
    errors.invalid(path, name, "must be a standard resource type or fully qualified");
}

void check_container_resource_name(std::string_view name, const std::string& path, FieldErrors& errors) {
  if (is_standard(name)) return;
  const auto problems = check_qualified_name(name);
  errors.invalid(path, name, problems);
  if (name.find('/') != std::string_view::npos) {
    if (problems.empty() && !is_native(name) && name.starts_with("requests."))
      errors.invalid(path, name, "doesn't follow extended resource name standard");
    return;
  }
  if (!is_known_elsewhere(name)) errors.invalid(path, name, "must be a standard resource type or fully qualified");
  errors.invalid(path, name, "must be a standard resource for containers");
}

void check_resources(const Json& resources, const std::string& path, ResourcesOf whose, FieldErrors& errors) {
  const Json& limits = resources["limits"];
  for (const Json::Member& limit : limits.members()) {
    const std::string where = under(in(path, "limits"), limit.name());
    check_name(limit.name(), where, whose, errors);
    check_amount(limit.name(), limit.value, where, errors);
  }
  for (const Json::Member& request : resources["requests"].members()) {
    const std::string all = in(path, "requests");
    check_name(request.name(), under(all, request.name()), whose, errors);
    check_amount(request.name(), request.value, under(all, request.name()), errors);
    const auto wanted = Quantity::from_json(request.value);
    const auto limit = Quantity::from_json(limits[request.name()]);
    if (!wanted) continue;
    if (limit) {
      if (may_be_overcommitted(request.name()) ? *wanted > *limit : *wanted != *limit)
        errors.invalid(all, wanted->to_json(),
                       base::format("must be {} {} limit of {}",
                                    may_be_overcommitted(request.name()) ? "less than or equal to" : "equal to",
                                    request.name(), limit->to_string()));
    } else if (!may_be_overcommitted(request.name())) {
      errors.required(in(path, "limits"), "Limit must be set for non overcommitable resources");
    }
  }
  bool huge = false;
  bool plain = false;
  for (const char* side : {"limits", "requests"})
    for (const Json::Member& amount : resources[side].members()) {
      huge = huge || amount.name().starts_with("hugepages-");
      plain = plain || amount.name() == "cpu" || amount.name() == "memory";
    }
  if (huge && !plain) errors.forbidden(path, "HugePages require cpu or memory");
}

namespace {

bool is_header_name(std::string_view name) {
  for (const char c : name)
    if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '-') return false;
  return !name.empty();
}

void check_http(const Json& get, const std::string& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kSchemes = {"HTTP", "HTTPS"};
  if (const Json& file = get["path"]; file.is_string() && file.as_string().empty()) errors.required(in(path, "path"));
  check_choice(get, path, "scheme", kSchemes, errors);
  for (const Json& header : get["httpHeaders"].items())
    if (!is_header_name(header["name"].as_string()))
      errors.invalid(in(path, "httpHeaders"), header["name"].str(),
                     "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex "
                     "used for validation is '[-A-Za-z0-9]+')");
}

enum class HandlerOf : std::uint8_t { kProbe, kHook };

void check_handler(const Json& handler, const std::string& path, HandlerOf whose, FieldErrors& errors) {
  int given = 0;
  const auto first = [&](std::string_view kind) {
    if (!handler[kind].is_object()) return false;
    if (++given > 1) {
      errors.forbidden(in(path, kind), "may not specify more than 1 handler type");
      return false;
    }
    return true;
  };
  const auto check_port = [&](std::string_view kind) {
    const Json& port = handler[kind]["port"];
    const std::string where = in(in(path, kind), "port");
    if (port.is_string())
      errors.invalid(where, port, check_port_name(port.as_string()));
    else if (port.as_int() < 1 || port.as_int() > 65535)
      errors.invalid(where, port.is_null() ? Json(0) : port, "must be between 1 and 65535, inclusive");
  };
  if (first("exec") && handler["exec"]["command"].empty()) errors.required(in(in(path, "exec"), "command"));
  if (first("httpGet")) {
    check_port("httpGet");
    check_http(handler["httpGet"], in(path, "httpGet"), errors);
  }
  if (first("tcpSocket")) check_port("tcpSocket");
  if (whose == HandlerOf::kHook)
    first("sleep");
  else if (first("grpc"))
    check_port("grpc");
  if (given == 0) errors.required(path, "must specify a handler type");
}

}  // namespace

void check_hook(const Json& hook, const std::string& path, std::int64_t grace_seconds, FieldErrors& errors) {
  check_handler(hook, path, HandlerOf::kHook, errors);
  const Json& seconds = hook["sleep"]["seconds"];
  if (seconds.as_int() < 0 || seconds.as_int() > grace_seconds)
    errors.invalid(
        in(path, "sleep"), seconds,
        base::format("must be non-negative and less than terminationGracePeriodSeconds ({})", grace_seconds));
}

void check_probe(const Json& probe, const std::string& path, bool one_success, FieldErrors& errors) {
  check_handler(probe, path, HandlerOf::kProbe, errors);
  for (const char* field :
       {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"})
    errors.not_negative(in(path, field), probe[field]);
  if (const Json& grace = probe["terminationGracePeriodSeconds"]; grace.is_number() && grace.as_int() <= 0)
    errors.invalid(in(path, "terminationGracePeriodSeconds"), grace, "must be greater than 0");
  if (const Json& threshold = probe["successThreshold"]; one_success && threshold.is_number() && threshold.as_int() > 1)
    errors.invalid(in(path, "successThreshold"), threshold, "must be 1");
}

}  // namespace api
