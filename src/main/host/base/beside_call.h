// Requests of a service beside the API, made over the API as the user who asked it.
#pragma once

#include <functional>
#include <string>

#include "apiserver/http/access.h"
#include "client/client.h"
#include "rt/env.h"

namespace volcano_main {

// `manager`: who manages the fields that it writes. The callback runs on `loop`, after the call has returned.
void call_beside(const apiserver::BesideCaller& caller, rt::Loop& loop, const std::string& manager,
                 client::Request request, client::Client::OnResult on_result);
// The same of a GET whose answer is text.
void read_beside(const apiserver::BesideCaller& caller, rt::Loop& loop, std::string target,
                 std::function<void(int status, std::string body)> on_text);

}  // namespace volcano_main
