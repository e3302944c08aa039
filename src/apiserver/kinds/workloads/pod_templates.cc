// Defaults and rules of pod templates and of what stands beside them.
#include "apiserver/kinds/workloads/pod_templates.h"

#include <algorithm>
#include <cstdint>

#include "api/pods/pod_spec.h"
#include "api/schema/selector_rules.h"
#include "api/schema/unwritten.h"
#include "api/selector.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/pods/pod_defaults.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

void default_pod_template(Json& spec) {
  if (takes_members(spec))
    for (const char* field : {"minReadySeconds", "paused"})  // zero is the same as none, and JSON leaves it out
      if (const Json& value = spec[field];
          (value.is_int() && value.as_int() == 0) || (value.is_bool() && !value.as_bool()))
        spec.erase(field);
  if (const Json& generation = spec["template"]["metadata"]["generation"];
      generation.is_int() && generation.as_int() == 0)
    spec.edit("template").edit("metadata").erase("generation");
  if (spec["template"].is_object() && takes_members(spec["template"]["spec"]))
    default_pod_spec(spec.edit("template").edit("spec"));
}

void default_strategy(Json& spec, std::string_view field, const Json& rolling) {
  set_if_absent(spec, field, Json::object());
  Json& strategy = spec.edit(field);
  set_if_absent(strategy, "type", "RollingUpdate");
  if (!strategy.is_object() || strategy["type"].as_string() != "RollingUpdate") return;
  set_if_absent(strategy, "rollingUpdate", Json::object());
  for (const Json::Member& member : rolling.members())
    set_if_absent(strategy.edit("rollingUpdate"), member.name(), member.value);
}

void check_pod_template(const Json& pod_template, const std::string& path, bool host_sysctls,
                        api::FieldErrors& errors) {
  if (pod_template.is_null()) return;  // the schema names it
  api::check_labels(pod_template["metadata"]["labels"], path + ".labels", errors);
  api::check_annotations(pod_template["metadata"]["annotations"], path + ".annotations", errors);
  errors.add(api::check_pod_spec(pod_template["spec"], path + ".spec",
                                 {.of = api::PodSpecOf::kTemplate, .host_sysctls = host_sysctls}));
}

void check_selector(std::string_view kind, const Json& spec, api::FieldErrors& errors) {
  const Json& selector = spec["selector"];
  const Json& labels = spec["template"]["metadata"]["labels"];
  if (selector.is_null()) return;  // the schema names it
  const std::size_t so_far = errors.size();
  api::check_label_selector(selector, "spec.selector", errors);
  if (errors.size() != so_far) return;
  const auto parsed = api::label_selector_from(selector);
  if (!parsed.ok()) return errors.invalid("spec.selector", selector, parsed.error().message);
  if (parsed->requirements.empty())
    return errors.invalid("spec.selector", selector, base::format("empty selector is invalid for {}", kind));
  if (!parsed->matches(labels))
    errors.invalid("spec.template.metadata.labels", labels.is_null() ? Json::object() : labels,
                   "`selector` does not match template `labels`");
}

void check_runs_for_ever(std::string_view kind, const Json& stored, const Json& pod_template,
                         api::FieldErrors& errors) {
  check_pod_template(pod_template, "spec.template", api::has_host_sysctls(stored["spec"]["template"]["spec"]), errors);
  const Json& spec = pod_template["spec"];
  if (const std::string_view policy = spec["restartPolicy"].as_string(); policy == "Never" || policy == "OnFailure")
    errors.unsupported("spec.template.spec.restartPolicy", spec["restartPolicy"], R"("Always")");
  if (!spec["activeDeadlineSeconds"].is_null())
    errors.forbidden("spec.template.spec.activeDeadlineSeconds",
                     base::format("activeDeadlineSeconds in {} is not Supported", kind));
}

void check_not_negative(const Json& object, const std::string& path, std::initializer_list<std::string_view> fields,
                        api::FieldErrors& errors) {
  for (const std::string_view field : fields)
    if (object[field].as_int() < 0)
      errors.invalid(base::format("{}.{}", path, field), object[field], "must be greater than or equal to 0");
}

bool check_share(const Json& value, const std::string& path, bool at_most_all, api::FieldErrors& errors) {
  if (value.is_int()) {
    if (value.as_int() < 0) errors.invalid(path, value, "must be greater than or equal to 0");
    return value.as_int() == 0;
  }
  std::string_view text = value.as_string();
  bool good = text.size() > 1 && text.size() < 8 && text.ends_with('%');
  std::int64_t percent = 0;
  for (const char c : text.substr(0, text.empty() ? 0 : text.size() - 1)) {
    good = good && c >= '0' && c <= '9';
    percent = percent * 10 + (c - '0');
  }
  if (!good) {
    errors.invalid(path, value,
                   "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
                   "regex used for validation is '[0-9]+%')");
    return false;
  }
  if (at_most_all && percent > 100) errors.invalid(path, value, "must not be greater than 100%");
  return percent == 0;
}

void check_same_selector(const Json& old_object, const Json& object, api::FieldErrors& errors) {
  if (!object["spec"].is_object()) return;  // validation names it
  const Json& after = object["spec"]["selector"];
  if (!api::same_as_written(api::core_schema("meta.v1.LabelSelector"), old_object["spec"]["selector"], after))
    errors.invalid("spec.selector", after, "field is immutable");
}

}  // namespace apiserver
