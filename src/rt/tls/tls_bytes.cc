// OpenSSL between two buffers in memory.
#include "rt/tls/tls_bytes.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <climits>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "base/format.h"

namespace rt {

namespace {

struct Free {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

base::Result<std::string> broken() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  return base::make_error(base::Code::kUnavailable, base::format("TLS: {}", reason ? reason : "the peer broke off"));
}

int size_of(std::string_view bytes) { return static_cast<int>(std::min<std::size_t>(bytes.size(), INT_MAX)); }

}  // namespace

struct TlsBytes::State {
  std::mutex mutex;  // guards what follows, and the order in which the server gets its bytes
  ToServer to_server;
  std::unique_ptr<SSL_CTX, Free> context;
  std::unique_ptr<SSL, Free> ssl;
  BIO* in = nullptr;  // of `ssl`, as is the next
  BIO* out = nullptr;
  std::string waiting;  // plain, until the handshake is over

  // Goes on as far as the bytes that are there allow. False: the session is broken.
  bool push() {
    ERR_clear_error();
    while (!waiting.empty()) {
      const int written = SSL_write(ssl.get(), waiting.data(), size_of(waiting));
      if (written <= 0) return !is_broken(written);
      waiting.erase(0, static_cast<std::size_t>(written));
    }
    return true;
  }
  // False: the server has enough for now.
  bool flush() {
    std::string sealed(BIO_ctrl_pending(out), '\0');
    if (sealed.empty()) return true;
    const int read = BIO_read(out, sealed.data(), size_of(sealed));
    sealed.resize(read > 0 ? static_cast<std::size_t>(read) : 0);
    return to_server(std::move(sealed));
  }
  // The server's bytes, as far as they are there.
  base::Result<std::string> read_all() {
    std::string plain;
    std::array<char, 16384> chunk;
    for (;;) {
      ERR_clear_error();
      const int read = SSL_read(ssl.get(), chunk.data(), chunk.size());
      if (read <= 0 && is_broken(read)) return broken();
      if (read <= 0) return plain;
      plain.append(chunk.data(), static_cast<std::size_t>(read));
    }
  }
  bool is_broken(int result) const {
    const int error = SSL_get_error(ssl.get(), result);
    return error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE && error != SSL_ERROR_ZERO_RETURN;
  }
};

TlsBytes::TlsBytes(ToServer to_server) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.to_server = std::move(to_server);
  state.context.reset(SSL_CTX_new(TLS_client_method()));
  CHECK(state.context != nullptr);
  SSL_CTX_set_min_proto_version(state.context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(state.context.get(), SSL_OP_NO_RENEGOTIATION);  // it could hold up what is sent for ever
  SSL_CTX_set_verify(state.context.get(), SSL_VERIFY_NONE, nullptr);
  state.ssl.reset(SSL_new(state.context.get()));
  state.in = BIO_new(BIO_s_mem());
  state.out = BIO_new(BIO_s_mem());
  CHECK(state.ssl != nullptr && state.in != nullptr && state.out != nullptr);
  SSL_set_bio(state.ssl.get(), state.in, state.out);
  SSL_set_connect_state(state.ssl.get());
  SSL_set_mode(state.ssl.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}
TlsBytes::~TlsBytes() = default;

bool TlsBytes::send(std::string_view plain) {
  const std::lock_guard lock(state_->mutex);
  state_->waiting += plain;
  state_->push();  // what breaks it is told to who receives
  return state_->flush();
}

base::Result<std::string> TlsBytes::receive(std::string_view sealed) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  while (!sealed.empty()) {
    const int taken = BIO_write(state.in, sealed.data(), size_of(sealed));
    CHECK(taken > 0);  // memory grows as needed
    sealed.remove_prefix(static_cast<std::size_t>(taken));
  }
  auto plain = state.push() ? state.read_all() : broken();
  state.flush();
  return plain;
}

}  // namespace rt
