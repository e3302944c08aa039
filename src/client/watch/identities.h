// Which objects are there, and at which version? For who watches very many, and keeps of them what it needs itself.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "api/json/json.h"

namespace client {

// Valid until the set of identities changes.
struct Identity {
  std::string_view key;  // "ns/name", or "name"
  std::string_view uid;
  std::string_view version;
};

// As an object that has nothing else.
api::Json object_of(const Identity& identity);

// Handlers that keep of each object what they need, and with it who the object is, so that nobody has to keep that
// again. Objects that are not kept need not be known.
class KnownObjects {
 public:
  virtual ~KnownObjects() = default;
  // Its texts stand until the next call.
  virtual std::optional<Identity> find(std::string_view key) const = 0;
  // In an order that a replay has, too.
  virtual void for_each(const std::function<void(const Identity&)>& visit) const = 0;
};

// About a hundred bytes an object: its words stand in one text. Keys, uids and versions have no zero byte.
class Identities {
 public:
  std::optional<Identity> find(std::string_view key) const {
    const auto found = texts_.find(key);
    return found == texts_.end() ? std::nullopt : std::optional(parts_of(*found));
  }
  // In place of what the key stood for.
  void put(const Identity& identity);
  void erase(std::string_view key) {
    if (const auto found = texts_.find(key); found != texts_.end()) texts_.erase(found);
  }
  bool empty() const { return texts_.empty(); }
  // In no order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const std::string& text : texts_) visit(parts_of(text));
  }

 private:
  static std::string_view key_of(std::string_view text) { return text.substr(0, text.find('\0')); }
  static Identity parts_of(std::string_view text);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(key_of(text)); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return key_of(a) == key_of(b); }
  };

  std::unordered_set<std::string, Hash, Equal> texts_;  // key, uid and version, with a zero byte between them
};

}  // namespace client
