// The parts that kinds with a pod template share: defaults and rules of templates, selectors, counts and shares.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "api/json/json.h"
#include "api/schema/field_errors.h"
#include "apiserver/kinds/kind_rules.h"

namespace apiserver {

// Defaults of a specification with a `template`.
void default_pod_template(api::Json& spec);
// `field` of the specification is a rolling update with these values, unless it says another.
void default_strategy(api::Json& spec, std::string_view field, const api::Json& rolling);

// `host_sysctls`: the stored template has some already.
void check_pod_template(const api::Json& pod_template, const std::string& path, bool host_sysctls,
                        api::FieldErrors& errors);
// A selector of labels that chooses something, and the template's pods. `kind`: as messages have it, "deployment".
void check_selector(std::string_view kind, const api::Json& spec, api::FieldErrors& errors);
// Pods that run for ever: their template restarts containers always, and has no deadline.
void check_runs_for_ever(std::string_view kind, const api::Json& stored, const api::Json& pod_template,
                         api::FieldErrors& errors);
// The numbers of the object at `path` that may not be negative.
void check_not_negative(const api::Json& object, const std::string& path,
                        std::initializer_list<std::string_view> fields, api::FieldErrors& errors);
// A count, or a percentage. Whether it is zero.
bool check_share(const api::Json& value, const std::string& path, bool at_most_all, api::FieldErrors& errors);
// The selector keeps its value.
void check_same_selector(const api::Json& old_object, const api::Json& object, api::FieldErrors& errors);

}  // namespace apiserver
