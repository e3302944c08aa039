// Objects in a list, for tests of admission rules.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "admission/hooks.h"
#include "api/admission.h"
#include "api/resource.h"

namespace admission {

class FakeObjects final : public api::ObjectReader {
 public:
  std::optional<api::Json> find(const api::ResourceId& id, std::string_view ns, std::string_view name) const override {
    for (const api::Json& object : list(id, ns))
      if (api::name_of(object) == name) return object;
    return std::nullopt;
  }
  std::vector<api::Json> list(const api::ResourceId& id, std::string_view ns) const override {
    std::vector<api::Json> found;
    if (const auto kind = objects.find(id); kind != objects.end())
      for (const api::Json& object : kind->second)
        if (ns.empty() || api::namespace_of(object) == ns) found.push_back(object);
    return found;
  }
  void add(const api::ResourceId& id, std::string_view json) {
    auto parsed = api::parse_json(json);
    ASSERT_TRUE(parsed.ok()) << json;
    objects[id].push_back(*parsed);
  }

  std::map<api::ResourceId, std::vector<api::Json>> objects;
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
