// Any patch on any object costs no more than its limits: steps, size, levels. The input is both, one a line.
#include "api/json/json_bulk.h"
#include "api/json/limits.h"
#include "api/json/work.h"
#include "api/kinds.h"
#include "api/schema/managed_fields.h"
#include "api/schema/patch.h"
#include "targets.h"

namespace fuzz {

using api::Json;

namespace {

constexpr api::JsonPatchLimits kLimits{.operations = 100, .copied_bytes = 4096, .steps = 4096};

// The steps that one merge may take on a text of so many bytes: each part a few times, and sorted.
std::uint64_t steps_for(std::size_t bytes) { return 1000 + 40 * std::uint64_t{bytes}; }

// A result within the limits of an object can be written and read again.
void promise_readable(const Json& result) {
  if (!api::extent_within(result, {.bytes = api::kObjectBytesMax, .levels = api::kObjectLevelsMax})) return;
  const std::string text = result.dump();
  const auto again = api::parse_json(text);
  promise(again.ok(), "what a patch made can be read", text);
  promise(*again == result, "what is read is what was written", text);
}

template <class Patch>
void promise_cost(std::string_view what, std::uint64_t steps_max, std::size_t bytes_max, const Patch& patch) {
  const std::uint64_t begun = api::work_steps;
  const base::Result<Json> result = patch();
  promise(api::work_steps - begun <= steps_max, "a patch takes a limited number of steps", what);
  if (!result.ok()) {
    promise(result.error().message.size() <= 4096, "a refusal is short", what);
    return;
  }
  promise(api::extent_within(*result, {.bytes = bytes_max, .levels = 2 * api::kDocumentLevelsMax}).has_value(),
          "a patch makes no more than it says", what);
  promise_readable(*result);
}

}  // namespace

void patch_limits(std::string_view input) {
  const std::size_t line = input.find('\n');
  if (line == std::string_view::npos) return;
  const auto document = api::parse_json(input.substr(0, line));
  const auto change = api::parse_json(input.substr(line + 1));
  if (!document.ok() || !change.ok()) return;
  // The parsed value may be longer as text than what was sent: 1e20 is.
  const std::size_t bytes = document->dump().size() + change->dump().size();
  promise_cost("json", kLimits.steps + steps_for(bytes), 3 * (bytes + kLimits.copied_bytes),
               [&] { return api::apply_json_patch(*document, *change, kLimits); });
  promise_cost("merge", steps_for(bytes), 3 * bytes,
               [&] { return base::Result<Json>(api::apply_merge_patch(*document, *change)); });
  for (const char* kind : {"Pod", "Service"}) {
    const api::KindInfo* info = api::find_kind_named("v1", kind);
    if (!info || !info->schema) continue;
    promise_cost("strategic", steps_for(bytes), 3 * bytes,
                 [&] { return api::apply_strategic_patch(*info->schema, *document, *change); });
    if (!document->is_object() || !change->is_object()) continue;
    const api::FieldManager manager{"fuzz", "v1", "", base::Time{1}};
    promise_cost("apply", steps_for(bytes), 8 * bytes + 4096,
                 [&] { return api::apply_configuration(*info->schema, *document, *change, manager, true); });
  }
}

}  // namespace fuzz
