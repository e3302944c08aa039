// Keys and authorities into an OpenSSL context.
#include "rt/http/server/server_tls.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <time.h>

#include <boost/asio/buffer.hpp>
#include <functional>
#include <map>

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

namespace {

// HTTP/2 is taken where the client offers it, else HTTP/1.1.
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

// The context that a handshake begins with, and those of names, which live as long.
struct Contexts {
  asio::ssl::context usual{asio::ssl::context::tls_server};
  std::map<std::string, asio::ssl::context, std::less<>> by_name;

  // A name that nobody has is served with the usual keys.
  asio::ssl::context* of(std::string name) {
    for (char& c : name)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    auto found = by_name.find(name);
    if (const std::size_t dot = name.find('.'); found == by_name.end() && dot != std::string::npos)
      found = by_name.find("*" + name.substr(dot));
    return found == by_name.end() ? nullptr : &found->second;
  }
};

int choose_by_name(SSL* connection, int*, void* contexts) {
  const char* name = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
  if (name == nullptr) return SSL_TLSEXT_ERR_NOACK;
  auto* chosen = static_cast<Contexts*>(contexts)->of(name);
  if (chosen != nullptr) SSL_set_SSL_CTX(connection, chosen->native_handle());
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

base::Result<std::shared_ptr<asio::ssl::context>> server_context(const ServerKeys& keys, bool offer_http2) {
  const auto contexts = std::make_shared<Contexts>();
  TRY_VOID(use_server_keys(contexts->usual, keys));
  if (offer_http2) offer_protocols(contexts->usual);
  for (const NamedKeys& one : keys.by_name) {
    asio::ssl::context tls(asio::ssl::context::tls_server);
    TRY_VOID(use_server_keys(tls, {one.certificate_pem, one.key_pem, keys.client_ca_pem}));
    if (offer_http2) offer_protocols(tls);
    contexts->by_name.emplace(one.name, std::move(tls));
  }
  if (!contexts->by_name.empty()) {
    SSL_CTX_set_tlsext_servername_callback(contexts->usual.native_handle(), choose_by_name);
    SSL_CTX_set_tlsext_servername_arg(contexts->usual.native_handle(), contexts.get());
  }
  return std::shared_ptr<asio::ssl::context>(contexts, &contexts->usual);
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
