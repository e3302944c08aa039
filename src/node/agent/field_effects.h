// The fields of pods and claims: does each act on this node, is it refused, or has it no effect? The last two are said
// in warnings when an object is made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/admission.h"
#include "api/json/json.h"

namespace node {

enum class FieldEffect : std::uint8_t {
  kActs,
  kRefused,   // an object that has it is refused, or its pod does not start
  kNoEffect,  // it is stored, and nothing follows
};

// The fields of one type that have one effect.
struct FieldRow {
  std::string_view type;    // as Kubernetes' tables name it: "core.v1.PodSpec"
  std::string_view fields;  // with blanks between them
  FieldEffect effect = FieldEffect::kActs;
  std::string_view why = {};
};
// Types that hold the others; a field of one of them that has no row fails a test.
const std::vector<FieldRow>& field_rows();
// A sentence for each field of `object`, of that type and at `path`, that does not act.
std::vector<std::string> field_warnings(std::string_view type, const api::Json& object, const std::string& path);
// Warnings at the making of pods, of objects with templates of pods, of claims, and of NetworkPolicies. `no_policies`:
// why the latter have no effect; empty: they have.
std::vector<api::AdmissionHook> field_hooks(const std::string& no_policies);

}  // namespace node
