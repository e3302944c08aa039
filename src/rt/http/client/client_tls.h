// How the HTTP client's TLS is set up: whom it trusts, and its own certificate.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include "base/result.h"
#include "rt/http/client/http_client.h"

namespace rt {

base::Status use_client_keys(boost::asio::ssl::context& tls, const ClientOptions& options);

}  // namespace rt
