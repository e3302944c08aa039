// Keys and authorities into an OpenSSL context.
#include "rt/server_tls.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>

#include "base/format.h"

namespace rt {

namespace asio = boost::asio;

base::Status use_server_keys(asio::ssl::context& tls, const ServerOptions& options) {
  boost::system::error_code error;
  tls.set_options(
      asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1, error);
  if (!error) tls.use_certificate_chain(asio::buffer(options.certificate_pem), error);
  if (!error) tls.use_private_key(asio::buffer(options.key_pem), asio::ssl::context::pem, error);
  if (!error && !options.client_ca_pem.empty()) {
    tls.add_certificate_authority(asio::buffer(options.client_ca_pem), error);
    if (!error) tls.set_verify_mode(asio::ssl::verify_peer, error);
    // Clients are told which authority we accept, so that they offer the right certificate.
    BIO* bio = BIO_new_mem_buf(options.client_ca_pem.data(), static_cast<int>(options.client_ca_pem.size()));
    if (X509* ca = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr)) {
      SSL_CTX_add_client_CA(tls.native_handle(), ca);
      X509_free(ca);
    }
    BIO_free(bio);
    static constexpr unsigned char kSession[] = "volcano";
    SSL_CTX_set_session_id_context(tls.native_handle(), kSession, sizeof kSession - 1);
  }
  if (error)
    return base::make_error(base::Code::kInvalid,
                            base::format("the server certificate cannot be used: {}", error.message()));
  return {};
}

}  // namespace rt
