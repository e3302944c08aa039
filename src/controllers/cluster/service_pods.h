// The pods behind a service: which they are, and on which ports they listen. Pure.
#pragma once

#include "controllers/framework/controller.h"

namespace controllers::cluster {

bool is_ready(const api::Json& pod);
// It has ended, and nothing of it runs again.
bool is_over(const api::Json& pod);
// False for services without a selector: somebody else says what is behind them.
bool selects(const api::Json& service, const api::Json& pod);
// The selected pods that have an address and are not over, in the order of their keys.
std::vector<const api::Json*> pods_behind(const View& view, const api::Json& service);
// The number behind a port of a service; 0 if the pod does not name it.
std::int64_t target_port(const api::Json& service_port, const api::Json& pod);
// {kind, name, namespace, uid} of a pod.
api::Json reference_to(const api::Json& pod);
// The host name by which the service knows the pod; empty: none.
std::string_view hostname_in(const api::Json& service, const api::Json& pod);

// The changes that wake a controller whose keys are services, and the indexes that it and pods_behind() need.
Wake services_of_pods();
std::vector<IndexBy> service_indexes();

}  // namespace controllers::cluster
