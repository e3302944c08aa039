// The facts that the answer to one request is made of: what the API answered so far. A handler asks for them in order;
// where one is not known yet it is asked for, and the handler runs again from its begin. Handlers are pure for that.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "client/client.h"
#include "pipelines/rest/index.h"

namespace pipelines::rest {

class Facts {
 public:
  struct Ids {
    std::function<std::optional<ObjectKey>(const api::ResourceId&, std::string_view id)> find;
    std::function<std::string(const api::ResourceId&, const ObjectKey&)> id_of;
  };

  // `known`: the answers to the first requests, in their order. Both outlive it.
  Facts(const Ids& ids, const std::vector<base::Result<api::Json>>& known, base::Time now)
      : ids_(ids), known_(known), now_(now) {}

  // The answer to a request with the rights of the user. An error, which the handler returns, until it is known.
  base::Result<api::Json> ask(client::Request request);
  std::optional<ObjectKey> find(const api::ResourceId& resource, std::string_view id) const {
    return ids_.find(resource, id);
  }
  std::string id_of(const api::ResourceId& resource, const ObjectKey& key) const { return ids_.id_of(resource, key); }
  base::Time now() const { return now_; }
  // What is to be asked next; unset: nothing, and what the handler returned is the answer.
  std::optional<client::Request>& next() { return next_; }

 private:
  const Ids& ids_;
  const std::vector<base::Result<api::Json>>& known_;
  base::Time now_;
  std::size_t asked_ = 0;
  std::optional<client::Request> next_;
};

}  // namespace pipelines::rest
