// Which pods and groups does the model hold, and at which version? For informers, which then keep nothing of them.
#pragma once

#include "client/watch/identities.h"
#include "scheduler/model/model.h"

namespace scheduler {

class KnownPods final : public client::KnownObjects {
 public:
  explicit KnownPods(const Model& model) : model_(model) {}
  std::optional<client::Identity> find(std::string_view key) const override;
  void for_each(const std::function<void(const client::Identity&)>& visit) const override;

 private:
  const Model& model_;
  mutable std::string uid_;  // of the last answer
};

class KnownGroups final : public client::KnownObjects {
 public:
  explicit KnownGroups(const Model& model) : model_(model) {}
  std::optional<client::Identity> find(std::string_view key) const override;
  void for_each(const std::function<void(const client::Identity&)>& visit) const override;

 private:
  const Model& model_;
  mutable std::string uid_;  // of the last answer
};

}  // namespace scheduler
