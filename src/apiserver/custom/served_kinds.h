// Every kind that is served now: the program's own rows, and what definitions add to them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "apiserver/custom/definition.h"
#include "store/store.h"

namespace apiserver {

// One kind as a request finds it.
struct ServedKind {
  const api::KindInfo* kind = nullptr;            // null: not served
  std::uint32_t resource = 0;                     // its table in the store; all versions of a stranger's kind share one
  std::shared_ptr<const CustomKind> custom = {};  // holds `kind`; null for the program's own

  explicit operator bool() const { return kind != nullptr; }
};

// Immutable; any thread.
class ServedKinds {
 public:
  ServedKind find(std::string_view group, std::string_view version, std::string_view plural) const;
  ServedKind find(const api::ResourceId& id) const { return find(id.group, id.version, id.plural); }
  // The strangers' kinds, by group and then the most wanted version first.
  const std::vector<ServedKind>& custom() const { return custom_; }
  const std::vector<DefinitionPtr>& definitions() const { return definitions_; }

 private:
  friend class KindBook;
  std::vector<ServedKind> custom_;
  std::vector<DefinitionPtr> definitions_;  // by name
};

// The definitions in force, as they become durable.
class KindBook {
 public:
  explicit KindBook(store::Store& store);

  // Any thread; never null.
  std::shared_ptr<const ServedKinds> current() const { return current_; }

  // Loop thread from here on.
  // Reads every definition that is stored. Once, before the first request.
  void begin();
  // A definition is in force from now on, unless a newer one of the name is.
  void put(const DefinitionPtr& definition);
  void remove(const std::string& name);
  // Told when requests of a definition's kinds must begin anew: its kinds are other ones now, or none.
  std::uint64_t on_change(const std::string& definition, std::function<void()> changed);
  void forget(std::uint64_t watcher);
  // The table of a definition's objects.
  std::uint32_t table_of(const Definition& definition);

 private:
  void rebuild();
  void notify(const std::string& definition);

  struct Watcher {
    std::string definition;
    std::function<void()> changed;
  };

  store::Store& store_;
  std::map<std::string, DefinitionPtr> definitions_;
  std::map<std::uint64_t, Watcher> watchers_;
  std::uint64_t next_watcher_ = 1;
  std::atomic<std::shared_ptr<const ServedKinds>> current_;
};

}  // namespace apiserver
