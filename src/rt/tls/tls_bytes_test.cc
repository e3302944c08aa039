// A session with a real server, through buffers that a test carries back and forth.
#include "rt/tls/tls_bytes.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <boost/asio/ssl/context.hpp>
#include <utility>

#include "rt/env.h"
#include "rt/http/server/server_tls.h"
#include "rt/tls/tls.h"

namespace rt {
namespace {

// The server's side, which repeats what it hears.
class Echo {
 public:
  Echo() {
    const auto env = make_real_env("test");
    const KeyPair ca = *make_ca("ca", env->now(), base::hours(1));
    const KeyPair key = *issue_certificate(ca, {.common_name = "pod", .server = true}, env->now(), base::hours(1));
    EXPECT_TRUE(use_server_keys(context_, {key.certificate_pem, key.key_pem, ""}).ok());
    ssl_ = SSL_new(context_.native_handle());
    SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(ssl_);
  }
  ~Echo() { SSL_free(ssl_); }
  Echo(const Echo&) = delete;
  Echo& operator=(const Echo&) = delete;

  std::string answer(const std::string& sealed) {
    if (!sealed.empty()) BIO_write(SSL_get_rbio(ssl_), sealed.data(), static_cast<int>(sealed.size()));
    char plain[4096];
    for (int size = 0; (size = SSL_read(ssl_, plain, sizeof plain)) > 0;) SSL_write(ssl_, plain, size);
    std::string out(BIO_ctrl_pending(SSL_get_wbio(ssl_)), '\0');
    if (!out.empty()) BIO_read(SSL_get_wbio(ssl_), out.data(), static_cast<int>(out.size()));
    return out;
  }
  void send_close() { SSL_shutdown(ssl_); }

 private:
  boost::asio::ssl::context context_{boost::asio::ssl::context::tls_server};
  SSL* ssl_ = nullptr;
};

struct Session {
  Echo server;
  std::string on_its_way;
  TlsBytes client{[this](const std::string& sealed) {
    on_its_way += sealed;
    return on_its_way.size() < 1000;
  }};

  // The bytes that the client has heard when neither side has anything to say any more.
  std::string exchanged() {
    std::string received;
    for (int quiet = 0; quiet < 2;) {
      const std::string back = server.answer(std::exchange(on_its_way, {}));
      const auto plain = client.receive(back);
      EXPECT_TRUE(plain.ok());
      if (plain.ok()) received += *plain;
      quiet = back.empty() ? quiet + 1 : 0;
    }
    return received;
  }
};

TEST(TlsBytes, carries_what_both_say) {
  Session session;
  EXPECT_TRUE(session.client.send("hello"));
  EXPECT_EQ(session.exchanged(), "hello");
  const std::string large(std::size_t{1} << 20, 'x');
  EXPECT_FALSE(session.client.send(large));
  EXPECT_EQ(session.exchanged(), large);
  session.server.send_close();
  EXPECT_EQ(session.exchanged(), "");
}

TEST(TlsBytes, what_is_no_tls_is_said) {
  Session session;
  session.client.send("hello");
  const auto received = session.client.receive("HTTP/1.1 400 Bad Request\r\n\r\n");
  ASSERT_FALSE(received.ok());
  EXPECT_EQ(received.error().code, base::Code::kUnavailable);
  EXPECT_TRUE(received.error().message.starts_with("TLS: ")) << received.error().message;
}

}  // namespace
}  // namespace rt
