// POST /debug/rehearsal of the page of a cluster, whose scheduler is a program of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "main/host/rehearsal/question.h"
#include "rt/http/http.h"

namespace volcano_main {

// Sends the body of a question whose workloads are completed to the scheduler, whose answer goes to the exchange.
using AskScheduler = std::function<void(std::string body, std::shared_ptr<rt::HttpExchange>)>;

// Completes the workloads of the body by dry runs, which prove that the user may create them, and asks the scheduler.
// Any thread, as `send` and `ask` are.
void rehearse_on_cluster(const std::string& body, SendAsUser send, AskScheduler ask,
                         std::shared_ptr<rt::HttpExchange> exchange);

// The same over one API server: a cluster of `volcano up` answers the question itself, and another one leads to the
// scheduler's Service at `service` (NAMESPACE/NAME:PORT), where the user has the right `create` of `services/proxy`.
void rehearse_through_server(const std::string& body, const SendAsUser& send, const std::string& service,
                             std::shared_ptr<rt::HttpExchange> exchange);

// The request that `ask` makes.
rt::HttpRequest rehearsal_request(std::string target, std::string body);

}  // namespace volcano_main
