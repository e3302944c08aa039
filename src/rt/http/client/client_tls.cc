// Keys and authorities of a client into an OpenSSL context.
#include "rt/http/client/client_tls.h"

#include <boost/asio/buffer.hpp>

#include "base/format.h"

namespace rt {

namespace asio = boost::asio;
using base::Code;

base::Status use_client_keys(asio::ssl::context& tls, const ClientOptions& options) {
  boost::system::error_code error;
  // A key's password cannot be asked for here.
  tls.set_password_callback([](std::size_t, asio::ssl::context::password_purpose) { return ""; }, error);
  if (options.insecure_skip_verify) {
    tls.set_verify_mode(asio::ssl::verify_none, error);
  } else {
    tls.set_verify_mode(asio::ssl::verify_peer, error);
    if (!options.ca_pem.empty())
      tls.add_certificate_authority(asio::buffer(options.ca_pem), error);
    else
      tls.set_default_verify_paths(error);
    if (error)
      return base::make_error(Code::kInvalid, base::format("the CA certificate cannot be used: {}", error.message()));
  }
  if (!options.certificate_pem.empty()) {
    tls.use_certificate_chain(asio::buffer(options.certificate_pem), error);
    if (!error) tls.use_private_key(asio::buffer(options.key_pem), asio::ssl::context::pem, error);
    if (error)
      return base::make_error(Code::kInvalid,
                              base::format("the client certificate cannot be used: {}", error.message()));
  }
  return {};
}

}  // namespace rt
