// Which object has an id, and which are in a namespace? Requests name objects by the uid alone, and lists are chosen by
// a few fields of each.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "client/watch/informer.h"

namespace pipelines::rest {

struct ObjectKey {
  std::string ns, name;

  bool operator==(const ObjectKey&) const = default;
};

// Keeps the names of all pipelines, versions, experiments, runs, recurring runs and Workflows, and the fields that
// lists are filtered and sorted by. Loop of `env`.
class Index {
 public:
  // `ns`: the only namespace that is looked at; empty: all of them.
  Index(client::Client& client, rt::Env& env, const std::string& ns);

  bool synced() const;
  // Why names are not known yet; empty: nothing is known to be in the way.
  std::string trouble() const;
  void on_synced(std::function<void()> callback);
  // An object that was just made, which the watch may tell later.
  void record(const api::ResourceId& resource, const api::Json& object);
  std::optional<ObjectKey> find(const api::ResourceId& resource, std::string_view id) const;
  // Empty: there is none of that name.
  std::string id_of(const api::ResourceId& resource, const ObjectKey& key) const;
  // The objects of a namespace by name, with few of their fields; unset: another namespace is looked at.
  std::optional<std::vector<api::Json>> rows(const api::ResourceId& resource, const std::string& ns) const;

 private:
  struct Table {
    std::map<std::string, ObjectKey, std::less<>> keys;  // by id
    std::map<std::string, api::Json, std::less<>> rows;  // by "ns/name"
    std::unique_ptr<client::Informer> informer;
  };
  static void change(Table& table, const api::Json* before, const api::Json* after);

  const std::string ns_;
  std::map<std::string, Table, std::less<>> tables_;  // by plural
};

}  // namespace pipelines::rest
