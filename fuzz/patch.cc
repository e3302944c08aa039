// The three kinds of patches on any two documents: the input is both, one a line.
#include "api/schema/patch.h"

#include "api/kinds.h"
#include "targets.h"

namespace fuzz {

using api::Json;

namespace {

// Merge patches cannot say null.
bool has_null(const Json& json) {
  if (json.is_null()) return true;
  for (const Json& item : json.items())
    if (has_null(item)) return true;
  for (const Json::Member& member : json.members())
    if (has_null(member.value)) return true;
  return false;
}

}  // namespace

void patch(std::string_view input) {
  const std::size_t line = input.find('\n');
  if (line == std::string_view::npos) return;
  const auto document = api::parse_json(input.substr(0, line));
  const auto change = api::parse_json(input.substr(line + 1));
  if (!document.ok() || !change.ok()) return;
  const std::string before = document->dump();
  (void)api::apply_json_patch(*document, *change);
  const Json merged = api::apply_merge_patch(*document, *change);
  promise(api::apply_merge_patch(merged, *change) == merged, "a merge patch applied twice is one applied once", before);
  if (document->is_object() && change->is_object() && !has_null(*change) && !has_null(*document)) {
    const Json made = api::make_merge_patch(*document, *change);
    promise(api::apply_merge_patch(*document, made) == *change, "a made patch leads to what it was made for",
            made.dump());
  }
  for (const char* kind : {"Pod", "Service"}) {
    const api::KindInfo* info = api::find_kind_named("v1", kind);
    if (info && info->schema) (void)api::apply_strategic_patch(*info->schema, *document, *change);
  }
  promise(document->dump() == before, "the patched document is a copy", before);
}

}  // namespace fuzz
