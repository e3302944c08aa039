// An informer keeps a copy of one resource current: by a watch that begins with what there is, or a list and a watch
// where the server has no such watches. It resumes after a broken watch, and begins again after a 410. Its objects are
// a view that may be old; writers send preconditions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "client/watch/identities.h"
#include "rt/env.h"

namespace client {

struct InformerOptions {
  std::string ns = {};
  std::string label_selector = {};
  std::string field_selector = {};
  // A server that does not have the resource, or does not show it, counts as one with no such objects.
  bool may_be_absent = false;
  // The fields that are read, null for all. A user that watches many objects and reads a part of them saves most of the
  // work of decoding. It lives as long as the program.
  const api::Projection* only = nullptr;
  // The part that is kept of each object: all of it, or only its name, uid and version, for a user who keeps what it
  // needs itself. Handlers always get the whole new state; `before` is what is kept, and so is the last state of an
  // object that was found gone by a list. Identities have neither indexes nor objects().
  enum class Keep : std::uint8_t { kObjects, kIdentities };
  Keep keep = Keep::kObjects;
  // With kIdentities: who keeps those, and has done so when the last handler returns; null: the informer does.
  const KnownObjects* known = nullptr;
};

// All of an object but who wrote which field: half the bytes of many objects, which servers keep when an update leaves
// them out.
const api::Projection& without_managed_fields();

// All methods and callbacks are on the loop of `env`.
class Informer {
 public:
  // `before` is null for an addition, `after` for a deletion. During the first list `initial` is true.
  using OnChange = std::function<void(const api::Json* before, const api::Json* after, bool initial)>;
  // Keys under which an object is found by `by_index`.
  using Index = std::function<std::vector<std::string>(const api::Json& object)>;

  Informer(Client& client, rt::Env& env, api::ResourceId resource, InformerOptions options = {});
  ~Informer();
  Informer(const Informer&) = delete;
  Informer& operator=(const Informer&) = delete;

  // Handlers and indexes are added before start().
  void on_change(OnChange handler);
  void add_index(std::string name, Index index);
  void start();

  // True once the first list has been delivered to the handlers.
  bool synced() const;
  void on_synced(std::function<void()> callback);
  // Why the copy is not current: "namespaces cannot be listed: ..."; empty: it is, as far as is known.
  const std::string& trouble() const;

  // By "ns/name" (or "name"); null when unknown. Pointers live until the next turn of the loop.
  const api::Json* find(std::string_view key) const;
  // The same also where only identities are kept; unset when unknown.
  std::optional<Identity> identity(std::string_view key) const;
  // In key order.
  const std::map<std::string, api::Json, std::less<>>& objects() const;
  // The objects under one index key, in key order.
  std::vector<const api::Json*> by_index(std::string_view index, std::string_view key) const;
  // How many those are, without looking at them.
  std::size_t count(std::string_view index, std::string_view key) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace client
