// The parts of a dump: each makes the objects of some kinds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scheduler/dump/dump.h"

namespace scheduler {

using Objects = std::vector<api::Json>;

struct ObjectHead {
  std::string_view version, kind, ns, name, uid;
};
// The object with its metadata, to which the caller adds.
api::Json object_of(const ObjectHead& head);
std::pair<std::string, std::string> split_key(std::string_view key);  // "ns/name"
// Its controller, of which only the uid is known; empty: it has none.
void set_owner(api::Json& object, const std::string& uid);

void dump_pods(const Model& model, const Ledger& ledger, const DumpOptions& options, Objects& out);
void dump_storage(const Model& model, Objects& out);
void dump_claims(const Model& model, Objects& out);
void dump_workloads(const Model& model, Objects& out);

// Selectors as the API writes them.
api::Json selector_json(const LabelSelector& selector, const Symbols& symbols);
api::Json terms_json(const std::vector<NodeTerm>& terms, const Symbols& symbols);
api::Json labels_json(const Labels& labels, const Symbols& symbols);
api::Json resource_json(const Request& request, const Dimensions& dimensions);
std::string_view effect_name(Taint::Effect effect);

}  // namespace scheduler
