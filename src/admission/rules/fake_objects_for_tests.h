// Objects in a list, for tests of admission rules.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "admission/rules/hooks.h"
#include "api/admission.h"
#include "api/meta/resource.h"

namespace admission {

class FakeObjects final : public api::ObjectReader {
 public:
  std::optional<api::Json> find(const api::ResourceId& id, std::string_view ns, std::string_view name) const override {
    ++questions;
    if (const auto kind = objects.find(id); kind != objects.end())
      for (const api::Json& object : kind->second)
        if (api::name_of(object) == name && (ns.empty() || api::namespace_of(object) == ns)) return object;
    return std::nullopt;
  }
  std::vector<api::Json> list_by(const api::TextField& field, std::string_view value, bool as_prefix) const override {
    std::map<std::string, api::Json> found;
    if (const auto kind = objects.find(field.resource); kind != objects.end())
      for (const api::Json& object : kind->second)
        if (const std::string text = field.of(object); as_prefix ? text.starts_with(value) : text == value)
          found.emplace(api::name_of(object), object);
    std::vector<api::Json> in_order;
    for (const auto& [name, object] : found) in_order.push_back(object);
    questions += 1 + in_order.size();
    return in_order;
  }
  void add(const api::ResourceId& id, std::string_view json) {
    auto parsed = api::parse_json(json);
    ASSERT_TRUE(parsed.ok()) << json;
    objects[id].push_back(*parsed);
  }

  std::map<api::ResourceId, std::vector<api::Json>> objects;
  mutable std::size_t questions = 0;  // what rules asked for, and what they were given to look at
};

// The answer of one hook, by path.
inline api::AdmissionAnswer ask(std::string_view path, api::Operation operation, const api::Json& object,
                                const FakeObjects& objects, const Options& options = {},
                                const api::Json& old_object = {}, std::string name = {}) {
  for (const api::AdmissionHook& hook : hooks(options)) {
    if (hook.path != path) continue;
    return hook.review({.operation = operation,
                        .resource = hook.resource,
                        .kind = hook.kind,
                        .ns = std::string(api::namespace_of(object)),
                        .name = name.empty() ? std::string(api::name_of(object)) : name,
                        .object = object,
                        .old_object = old_object},
                       objects);
  }
  ADD_FAILURE() << "no hook " << path;
  return {};
}

inline api::Json json(std::string_view text) {
  auto parsed = api::parse_json(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : api::Json();
}

}  // namespace admission
