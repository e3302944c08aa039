// How the HTTP server's TLS is set up: protocol versions, our certificate, and whose client certificates count.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "rt/http/server/http_server.h"

namespace rt {

base::Status use_server_keys(boost::asio::ssl::context& tls, const ServerKeys& keys);
// HTTP/2 is taken where the client offers it, else HTTP/1.1.
void offer_protocols(boost::asio::ssl::context& tls);
bool speaks_http2(SSL* connection);
// Reads the names of the client's certificate, if it sent one. `not_after`: the certificate's, in Unix seconds; left
// alone without one.
void read_peer_names(SSL* connection, std::string& common_name, std::vector<std::string>& organizations,
                     std::int64_t& not_after);

}  // namespace rt
