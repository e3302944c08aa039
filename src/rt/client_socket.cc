// Resolving, connecting and the handshake.
#include "rt/client_socket.h"

#include <openssl/ssl.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>

#include "base/format.h"

namespace rt {

namespace asio = boost::asio;
using base::Code;
using ErrorCode = boost::system::error_code;

std::string ClientShared::authority() const {
  const bool v6 = options.host.find(':') != std::string::npos;
  return base::format("{}{}{}:{}", v6 ? "[" : "", options.host, v6 ? "]" : "", options.port);
}

base::Error ClientShared::error(Code code, std::string_view why) const {
  return base::make_error(code, base::format("{}:{}: {}", options.host, options.port, why));
}

ClientSocket::ClientSocket(std::shared_ptr<ClientShared> shared)
    : shared_(std::move(shared)), resolver_(shared_->context) {
  if (shared_->tls)
    secure_.emplace(shared_->context, *shared_->tls);
  else
    plain_.emplace(shared_->context);
}

void ClientSocket::connect(bool offer_http2, std::function<void(base::Status)> done) {
  const ClientOptions& options = shared_->options;
  resolver_.async_resolve(
      options.host, std::to_string(options.port),
      [this, offer_http2, done = std::move(done)](ErrorCode error, const Tcp::resolver::results_type& found) {
        if (error)
          return done(shared_->error(Code::kUnavailable, base::format("cannot resolve the name: {}", error.message())));
        asio::async_connect(socket(), found, [this, offer_http2, done](ErrorCode failure, const Tcp::endpoint&) {
          if (failure)
            return done(shared_->error(Code::kUnavailable, base::format("cannot connect: {}", failure.message())));
          ErrorCode ignored;
          socket().set_option(Tcp::no_delay(true), ignored);
          if (!secure_) return done({});
          secure(offer_http2, done);
        });
      });
}

void ClientSocket::secure(bool offer_http2, const std::function<void(base::Status)>& done) {
  const ClientOptions& options = shared_->options;
  const std::string& name = options.server_name.empty() ? options.host : options.server_name;
  SSL* ssl = secure_->native_handle();
  SSL_set_tlsext_host_name(ssl, name.c_str());
  static constexpr unsigned char kBoth[] = "\x02h2\x08http/1.1";
  if (offer_http2) SSL_set_alpn_protos(ssl, kBoth, sizeof kBoth - 1);
  ErrorCode ignored;
  if (!options.insecure_skip_verify) secure_->set_verify_callback(asio::ssl::host_name_verification(name), ignored);
  secure_->async_handshake(asio::ssl::stream_base::client, [this, done](ErrorCode error) {
    if (error) return done(shared_->error(Code::kUnavailable, base::format("TLS: {}", error.message())));
    done({});
  });
}

bool ClientSocket::speaks_http2() const {
  if (!secure_) return false;
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(const_cast<ClientSocket*>(this)->secure_->native_handle(), &chosen, &size);
  return size == 2 && chosen[0] == 'h' && chosen[1] == '2';
}

bool ClientSocket::is_drained() {
  ErrorCode error;
  if (socket().available(error) > 0 || error) return false;
  if (!secure_) return true;
  SSL* ssl = secure_->native_handle();
  return SSL_pending(ssl) == 0 && BIO_ctrl_pending(SSL_get_rbio(ssl)) == 0;
}

void ClientSocket::close() {
  resolver_.cancel();
  ErrorCode ignored;
  socket().close(ignored);
}

}  // namespace rt
