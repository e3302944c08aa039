// A list as it was, by putting back the changes since then.
#include "apiserver/pipeline/read/historical_revisions.h"

#include <map>
#include <string>

#include "base/format.h"

namespace apiserver {

using base::Code;
using base::Result;

namespace {

// By "ns/name", the objects that have changed since `revision`, as they were then; null: there was none.
using Before = std::map<std::string, store::ObjectPtr, std::less<>>;

std::string key_of(const store::Object& object) { return object.ns + "/" + object.name; }

base::Error expired(std::int64_t revision) {
  return base::make_error(Code::kExpired,
                          base::format("The provided resource version {} is not available any more", revision));
}

Result<Before> changed_since(const store::Store& store, std::uint32_t resource, std::int64_t revision) {
  auto missed = store.missed(resource, revision, SIZE_MAX);
  if (!missed.ok()) return expired(revision);
  Before before;
  for (const store::Event& event : missed->events) {
    const auto [at, is_first] = before.try_emplace(key_of(*event.object));
    if (!is_first) continue;
    if (event.type != store::EventType::kAdded && !event.before) return expired(revision);
    if (event.type != store::EventType::kAdded) at->second = event.before;
  }
  return before;
}

}  // namespace

base::Status for_each_at(const store::Store& store, std::uint32_t resource, std::string_view ns, std::string_view after,
                         std::int64_t revision, const std::function<bool(const store::ObjectPtr&)>& visit) {
  if (revision == store.revision()) {
    store.for_each(resource, ns, after, store::View::kDurable, visit);
    return {};
  }
  TRY(const Before before, changed_since(store, resource, revision));
  auto at = before.upper_bound(after);
  bool goes_on = true;
  // Objects that are to be told before `key`; of an empty key, all that are left.
  const auto deliver_until = [&](std::string_view key) {
    for (; goes_on && at != before.end() && (key.empty() || at->first < key); ++at)
      if (at->second && (ns.empty() || at->second->ns == ns)) goes_on = visit(at->second);
  };
  store.for_each(resource, ns, after, store::View::kDurable, [&](const store::ObjectPtr& object) {
    const std::string key = key_of(*object);
    deliver_until(key);
    if (goes_on && !before.contains(key)) goes_on = visit(object);
    return goes_on;
  });
  deliver_until({});
  return {};
}

}  // namespace apiserver
