// How the HTTP server's TLS is set up: protocol versions, our certificate, and whose client certificates count.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "rt/http/server/http_server.h"

namespace rt {

base::Status use_server_keys(boost::asio::ssl::context& tls, const ServerKeys& keys);
// HTTP/2, if it is offered, is taken where the client offers it, too, else HTTP/1.1. The context of a name is chosen by
// what the client asks for (SNI).
base::Result<std::shared_ptr<boost::asio::ssl::context>> server_context(const ServerKeys& keys, bool offer_http2);
bool speaks_http2(SSL* connection);
// Reads the names of the client's certificate, if it sent one. `not_after`: the certificate's, in Unix seconds; left
// alone without one.
void read_peer_names(SSL* connection, std::string& common_name, std::vector<std::string>& organizations,
                     std::int64_t& not_after);

}  // namespace rt
