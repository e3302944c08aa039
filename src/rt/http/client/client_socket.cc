// Resolving, connecting and the handshake.
#include "rt/http/client/client_socket.h"

#include <openssl/ssl.h>

#include <boost/asio/post.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/write.hpp>
#include <stdexcept>

#include "base/format.h"

namespace rt {

namespace asio = boost::asio;
using base::Code;
using ErrorCode = boost::system::error_code;

namespace {
constexpr std::size_t kProxyAnswerBytesMax = std::size_t{16} << 10;
}  // namespace

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

std::pair<std::string, std::uint16_t> ClientSocket::place() const {
  if (const std::optional<Proxy>& proxy = shared_->options.proxy) return {proxy->host, proxy->port};
  return {shared_->options.host, shared_->options.port};
}

std::string ClientSocket::by() const {
  const auto [host, port] = place();
  return shared_->options.proxy ? base::format("the proxy {}:{}: ", host, port) : "";
}

void ClientSocket::connect(bool offer_http2, const std::function<void(base::Status)>& done) {
  const auto [host, port] = place();
  // Asio's resolver is another thread of each client.
  ErrorCode is_name;
  const auto address = asio::ip::make_address(host, is_name);
  if (!is_name) return connect_to({{address, port}}, offer_http2, done);
  auto unresolved = [this, done](std::string_view why) {
    done(shared_->error(Code::kUnavailable, base::format("{}cannot resolve the name: {}", by(), why)));
  };
  try {
    resolver_.async_resolve(
        host, std::to_string(port),
        [this, offer_http2, done, unresolved](ErrorCode error, const Tcp::resolver::results_type& found) {
          if (!error && closed_) error = asio::error::operation_aborted;
          if (!error && found.empty()) error = asio::error::host_not_found;
          if (error) return unresolved(error.message());
          connect_to({found.begin(), found.end()}, offer_http2, done);
        });
  } catch (const std::runtime_error& scarce) {  // std::system_error, or Boost's: it has no thread
    asio::post(shared_->context, [unresolved, why = std::string(scarce.what())] { unresolved(why); });
  }
}

void ClientSocket::connect_to(const std::vector<Tcp::endpoint>& addresses, bool offer_http2,
                              const std::function<void(base::Status)>& done) {
  auto race = std::make_shared<AddressRace>(
      shared_->context, in_turns(addresses), [this, offer_http2, done](AddressRace::End end) {
        if (end.failure) {
          const std::string address = end.at.address().to_string();
          const std::string of = address == place().first ? "" : base::format(" ({})", address);
          return done(shared_->error(Code::kUnavailable,
                                     base::format("{}cannot connect: {}{}", by(), end.failure.message(), of)));
        }
        socket() = std::move(end.socket);
        connected(offer_http2, done);
      });
  race_ = race;
  race->start();
}

void ClientSocket::connected(bool offer_http2, const std::function<void(base::Status)>& done) {
  ErrorCode ignored;
  socket().set_option(Tcp::no_delay(true), ignored);
  if (!secure_) return done({});
  if (!shared_->options.proxy) return secure(offer_http2, done);
  tunnel([this, offer_http2, done](base::Status through) {
    if (!through.ok()) return done(shared_->error(through.error().code, through.error().message));
    secure(offer_http2, done);
  });
}

void ClientSocket::tunnel(const std::function<void(base::Status)>& done) {
  auto request = connect_request(shared_->authority(), *shared_->options.proxy);
  if (!request.ok()) return done(request.take_error());
  asked_ = *std::move(request);
  answered_.clear();
  asio::async_write(socket(), asio::buffer(asked_), [this, done](ErrorCode error, std::size_t) {
    if (error) return done(base::make_error(Code::kUnavailable, base::format("the proxy ends: {}", error.message())));
    asio::async_read_until(
        socket(), asio::dynamic_buffer(answered_, kProxyAnswerBytesMax), "\r\n\r\n",
        [this, done](ErrorCode failure, std::size_t size) {
          if (failure == asio::error::not_found)
            return done(base::make_error(
                Code::kUnavailable, base::format("the proxy's answer does not end in {} bytes", kProxyAnswerBytesMax)));
          if (failure)
            return done(
                base::make_error(Code::kUnavailable, base::format("the proxy does not answer: {}", failure.message())));
          base::Status through = read_connect_answer(std::string_view(answered_).substr(0, size));
          // A server speaks TLS only after we do: what comes before that is not its.
          if (through.ok() && answered_.size() > size)
            through = base::make_error(Code::kUnavailable, "the proxy says more than that bytes go through");
          done(std::move(through));
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
  closed_ = true;
  resolver_.cancel();
  if (const auto race = race_.lock()) race->cancel();
  ErrorCode ignored;
  socket().close(ignored);
}

}  // namespace rt
