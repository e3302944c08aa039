// The newest state of the store, as admission rules and writes see it; and the same seen once, for work off the loop.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "api/admission.h"
#include "api/text_index.h"
#include "store/store.h"

namespace apiserver {

class Lookups : public api::ObjectReader {
 public:
  // The newest state, also one that is not durable yet; null: there is none.
  virtual store::ObjectPtr stored(std::uint32_t resource, std::string_view ns, std::string_view name) const = 0;
  std::optional<api::Json> find(const api::ResourceId& id, std::string_view ns, std::string_view name) const override;
};

// Loop thread only. Indexes are made when they are first asked for and then kept current.
class LiveObjects final : public Lookups {
 public:
  explicit LiveObjects(store::Store& store) : store_(store) {}

  store::ObjectPtr stored(std::uint32_t resource, std::string_view ns, std::string_view name) const override;
  std::vector<api::Json> list_by(const api::TextField& field, std::string_view value, bool as_prefix) const override;

 private:
  store::Store& store_;
  mutable std::map<api::TextField, std::shared_ptr<api::TextIndex>> indexes_;
};

// The facts that one decision looks at: the answers it was given, and the questions it had none for. The thread that
// decides asks and the loop answers, by turns.
class Snapshot final : public Lookups {
 public:
  store::ObjectPtr stored(std::uint32_t resource, std::string_view ns, std::string_view name) const override;
  std::vector<api::Json> list_by(const api::TextField& field, std::string_view value, bool as_prefix) const override;

  // Answers every question anew. True if nothing was new: what was decided by these answers holds.
  bool refresh(const LiveObjects& latest);

 private:
  using ObjectKey = std::tuple<std::uint32_t, std::string, std::string>;
  using ListKey = std::tuple<api::TextField, std::string, bool>;
  // Unset: asked, not answered yet.
  mutable std::map<ObjectKey, std::optional<store::ObjectPtr>> objects_;
  mutable std::map<ListKey, std::optional<std::vector<api::Json>>> lists_;
};

}  // namespace apiserver
