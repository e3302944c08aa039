// The common way of TensorBoards and viewers: a Deployment of one pod, a Service, a route, and the conditions that the
// Deployment says.
#pragma once

#include <map>
#include <set>
#include <string>

#include "controllers/framework/ongoing_states.h"
#include "controllers/notebooks/istio.h"
#include "controllers/notebooks/options.h"
#include "controllers/notebooks/owned.h"

namespace controllers::notebooks {

// One look at one object that is shown by a server.
class ServerStep {
 public:
  ServerStep(Plan& plan, const View& view, const api::Json& object, OwnedObjects& owned,
             std::set<std::string>& reported)
      : plan_(plan), view_(view), object_(object), owned_(owned), reported_(reported), reported_now_(reported) {}
  ~ServerStep() { reported_ = reported_now_.all(); }

  // False: the name is somebody else's, and an event says so.
  bool keep(const api::ResourceId& resource, const api::Json& wanted);
  void route(const KindOfStranger& virtual_services, const Route& route, const Options& options);
  void warn(std::string_view reason, const std::string& text);
  // The Deployment of this name that is the object's; or null.
  const api::Json* deployment(std::string_view name) const;

 private:
  Plan& plan_;
  const View& view_;
  const api::Json& object_;
  OwnedObjects& owned_;
  std::set<std::string>& reported_;
  OngoingStates reported_now_;
};

struct ServerParts {
  std::string name;
  api::Json labels;    // of the pod
  api::Json selector;  // labels
  api::Json pod;       // its specification
  bool recreates = false;
};
api::Json deployment_of(const api::Json& owner, ServerParts parts);
// A Service of port 80.
api::Json service_of(const api::Json& owner, std::string name, const api::Json& selector, std::string port_name,
                     const api::Json& target);
// Only pods of its namespace reach the pods of these labels; the proxy that people come by is on the node.
api::Json policy_of(const api::Json& owner, std::string name, const api::Json& labels);
// The keys of the owners of a kind among the controllers of objects.
std::function<Keys(const View&, const api::Json&)> owner_of_kind(std::string kind);
// `before` with the condition that the Deployment says first at its end, where it is of another type than the last. The
// newest conditions stay.
api::Json with_condition(const api::Json& before, std::string_view type_field, api::Json condition);

}  // namespace controllers::notebooks
