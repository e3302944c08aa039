// Keys and authorities into an OpenSSL context.
#include "rt/http/server/server_tls.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <time.h>

#include <boost/asio/buffer.hpp>

#include "base/format.h"

namespace rt {

namespace asio = boost::asio;

base::Status use_server_keys(asio::ssl::context& tls, const ServerKeys& keys) {
  boost::system::error_code error;
  tls.set_options(
      asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1, error);
  // The cost of a connection is kept low: no buffers while it waits, no session kept after it, no handshake after the
  // first.
  SSL_CTX_set_mode(tls.native_handle(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(tls.native_handle(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(tls.native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(tls.native_handle(), 0);  // a session that is resumed shows no certificate again
  // A key's password cannot be asked for here.
  if (!error) tls.set_password_callback([](std::size_t, asio::ssl::context::password_purpose) { return ""; }, error);
  // TLS 1.2 is left the ciphers with forward secrecy and authenticated encryption; 1.3 has nothing else.
  SSL_CTX_set_cipher_list(tls.native_handle(),
                          "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384");
  if (!error) tls.use_certificate_chain(asio::buffer(keys.certificate_pem), error);
  if (!error) tls.use_private_key(asio::buffer(keys.key_pem), asio::ssl::context::pem, error);
  if (!error && !keys.client_ca_pem.empty()) {
    tls.add_certificate_authority(asio::buffer(keys.client_ca_pem), error);
    if (!error) tls.set_verify_mode(asio::ssl::verify_peer, error);
    // Clients are told which authority we accept, so that they offer the right certificate.
    BIO* bio = BIO_new_mem_buf(keys.client_ca_pem.data(), static_cast<int>(keys.client_ca_pem.size()));
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

void offer_protocols(asio::ssl::context& tls) {
  const auto choose = [](SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* offered,
                         unsigned size, void*) {
    static constexpr unsigned char kOurs[] = "\x02h2\x08http/1.1";
    unsigned char* chosen = nullptr;
    if (SSL_select_next_proto(&chosen, out_size, kOurs, sizeof kOurs - 1, offered, size) != OPENSSL_NPN_NEGOTIATED)
      return SSL_TLSEXT_ERR_NOACK;  // whoever offers something else gets HTTP/1.1, as who offers nothing
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
  };
  SSL_CTX_set_alpn_select_cb(tls.native_handle(), choose, nullptr);
}

bool speaks_http2(SSL* connection) {
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(connection, &chosen, &size);
  return std::string_view(reinterpret_cast<const char*>(chosen), size) == "h2";
}

void read_peer_names(SSL* connection, std::string& common_name, std::vector<std::string>& organizations,
                     std::int64_t& not_after) {
  X509* certificate = SSL_get1_peer_certificate(connection);
  if (!certificate) return;
  X509_NAME* name = X509_get_subject_name(certificate);
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry));
    if (size < 0) continue;
    std::string value(reinterpret_cast<char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
    const int nid = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    if (nid == NID_commonName)
      common_name = std::move(value);
    else if (nid == NID_organizationName)
      organizations.push_back(std::move(value));
  }
  std::tm end{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) == 1) not_after = ::timegm(&end);
  X509_free(certificate);
}

}  // namespace rt
