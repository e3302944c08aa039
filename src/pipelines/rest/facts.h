// The facts that the answer to one request is made of: what the API answered so far. A handler asks for them in order;
// where one is not known yet it is asked for, and the handler runs again from its begin. Handlers are pure for that.
#pragma once

#include <functional>
#include <map>
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
  // The names of objects as they are now.
  struct Ids {
    std::function<std::optional<ObjectKey>(const api::ResourceId&, std::string_view id)> find;
    std::function<std::string(const api::ResourceId&, const ObjectKey&)> id_of;
    std::function<std::optional<std::vector<api::Json>>(const api::ResourceId&, const std::string& ns)> rows;
  };
  // The answers so far. A handler that runs again must find it as it was: an object that it has deleted in
  // between is still the one that an id led to.
  struct Known {
    std::vector<base::Result<api::Json>> answers = {};  // in the order of the requests
    std::map<std::string, std::optional<ObjectKey>> keys = {};
    std::map<std::string, std::string> ids = {};
    std::map<std::string, std::optional<std::vector<api::Json>>> rows = {};
    std::optional<api::Json> page = {};
  };

  // Both outlive it.
  Facts(const Ids& ids, Known& known, base::Time now) : ids_(ids), known_(known), now_(now) {}

  // The answer to a request with the rights of the user. An error, which the handler returns, until it is known.
  base::Result<api::Json> ask(client::Request request);
  std::optional<ObjectKey> find(const api::ResourceId& resource, std::string_view id) const;
  std::string id_of(const api::ResourceId& resource, const ObjectKey& key) const;
  // The objects of a namespace with few of their fields (index.h). An error where the user may not list them.
  base::Result<std::vector<api::Json>> rows(const api::ResourceId& resource, const std::string& ns);
  // The page of a list once it is chosen, so that a long list is not sorted again for each object of the page.
  std::optional<api::Json>& page() { return known_.page; }
  base::Time now() const { return now_; }
  // The request that is to be made next; unset: the handler has returned the answer.
  std::optional<client::Request>& next() { return next_; }

 private:
  const Ids& ids_;
  Known& known_;
  base::Time now_;
  std::size_t asked_ = 0;
  std::optional<client::Request> next_;
};

}  // namespace pipelines::rest
