// Kinds of Istio, which are written where they are defined only: VirtualServices and AuthorizationPolicies.
#pragma once

#include <optional>
#include <string>

#include "api/json/json.h"
#include "api/kinds.h"
#include "controllers/framework/controller.h"
#include "controllers/notebooks/options.h"

namespace controllers::notebooks {

// The kind of one plural of a group, while some definition makes it.
class KindOfStranger {
 public:
  KindOfStranger(std::string group, std::string plural) : group_(std::move(group)), plural_(std::move(plural)) {}

  void comes(const api::KindInfo& kind) {
    if (kind.resource.group == group_ && kind.resource.plural == plural_) resource_ = kind.resource;
  }
  void goes(const api::ResourceId& resource) {
    if (resource_ == resource) resource_.reset();
  }
  const std::optional<api::ResourceId>& resource() const { return resource_; }
  bool is(const api::ResourceId& resource) const { return resource_ == resource; }

 private:
  std::string group_, plural_;
  std::optional<api::ResourceId> resource_;
};

KindOfStranger virtual_services();
KindOfStranger authorization_policies();

struct Route {
  std::string name;     // of the VirtualService
  std::string prefix;   // of requests
  std::string rewrite;  // of the prefix, for the server
  std::string service;  // its name
  std::string timeout = "300s";
  api::Json headers = {};  // that requests get; null: none are named
};

// The VirtualService of a route to port 80 of a service in the namespace of `owner`.
api::Json virtual_service(const api::ResourceId& resource, const api::Json& owner, const Route& route,
                          const Options& options);
// Keeps the object as its owner wants it. A view shows the metadata alone of strangers' kinds, so that a change by
// somebody else stays.
void keep_stranger(Plan& plan, const View& view, const api::Json& owner, const api::ResourceId& resource,
                   api::Json wanted);

// With the rows of the objects that every server of a notebook's kind has: its Service, and what the options add.
std::vector<Write> with_server_writes(std::vector<Write> rows, const Options& options);

}  // namespace controllers::notebooks
