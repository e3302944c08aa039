// Definitions by name; the served kinds follow from them.
#include "apiserver/custom/served_kinds.h"

#include <algorithm>
#include <utility>

#include "api/other_versions.h"

namespace apiserver {

namespace {

std::uint32_t definitions_table() {
  return static_cast<std::uint32_t>(api::find_kind(api::resources::kCustomResourceDefinitions) -
                                    api::all_kinds().data());
}

}  // namespace

ServedKind ServedKinds::find(std::string_view group, std::string_view version, std::string_view plural) const {
  if (const api::KindInfo* own = api::find_kind(group, version, plural))
    return {own, static_cast<std::uint32_t>(own - api::all_kinds().data())};
  if (const api::OtherVersion* other = api::find_other_version(group, version, plural))
    return {&other->kind, static_cast<std::uint32_t>(other->stored - api::all_kinds().data())};
  for (const ServedKind& one : custom_) {
    const api::ResourceId& id = one.kind->resource;
    if (id.plural == plural && id.group == group && id.version == version) return one;
  }
  return {};
}

KindBook::KindBook(store::Store& store) : store_(store), current_(std::make_shared<const ServedKinds>()) {}

void KindBook::begin() {
  store_.for_each(definitions_table(), "", "", store::View::kDurable, [this](const store::ObjectPtr& stored) {
    definitions_[stored->name] = read_definition(stored->json(), stored->revision, nullptr);
    return true;
  });
  rebuild();
}

void KindBook::put(const DefinitionPtr& definition) {
  DefinitionPtr& known = definitions_[definition->name];
  if (known && known->revision >= definition->revision) return;
  const DefinitionPtr before = std::exchange(known, definition);
  rebuild();
  const bool changed = before && (!(before->spec == known->spec) || before->established != known->established);
  if (changed) notify(known->name);
}

void KindBook::remove(const std::string& name) {
  if (definitions_.erase(name) == 0) return;
  rebuild();
  notify(name);
}

std::uint32_t KindBook::table_of(const Definition& definition) {
  return store_.table(definition.group + "/" + definition.spec["names"]["plural"].str());
}

void KindBook::rebuild() {
  auto fresh = std::make_shared<ServedKinds>();
  for (const auto& [name, definition] : definitions_) {
    fresh->definitions_.push_back(definition);
    if (definition->kinds.empty()) continue;
    const std::uint32_t table = table_of(*definition);
    for (const auto& kind : definition->kinds) fresh->custom_.push_back({kind.get(), table, kind});
  }
  std::ranges::stable_sort(fresh->custom_, {}, [](const ServedKind& one) { return one.kind->resource.group; });
  current_ = std::shared_ptr<const ServedKinds>(std::move(fresh));
}

std::uint64_t KindBook::on_change(const std::string& definition, std::function<void()> changed) {
  const std::uint64_t id = next_watcher_++;
  watchers_[id] = {definition, std::move(changed)};
  return id;
}

void KindBook::forget(std::uint64_t watcher) { watchers_.erase(watcher); }

// A listener may forget itself and others.
void KindBook::notify(const std::string& definition) {
  std::vector<std::uint64_t> due;
  for (const auto& [id, watcher] : watchers_)
    if (watcher.definition == definition) due.push_back(id);
  for (const std::uint64_t id : due) {
    const auto found = watchers_.find(id);
    if (found == watchers_.end()) continue;
    const auto changed = found->second.changed;
    changed();
  }
}

}  // namespace apiserver
