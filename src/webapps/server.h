// The web applications: requests in, answers out, everything done with the rights of the user who asks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "client/client.h"
#include "rt/env.h"
#include "rt/http/http.h"
#include "webapps/apps.h"

namespace webapps {

// The user of a request, with whose rights objects are read and written. Everything on the server's loop.
class Asker {
 public:
  virtual ~Asker() = default;
  virtual std::string name() const = 0;
  // The callback comes after the call has returned.
  virtual void call(client::Request request, client::Client::OnResult on_result) = 0;
  // The same of a GET whose answer is text.
  virtual void read(std::string target, std::function<void(int status, std::string body)> on_text) = 0;
};

// Everything on the loop of `env`. `client` has the rights of the program itself, with which users are told of their
// own bindings.
class Server {
 public:
  Server(rt::Env& env, client::Client& client) : env_(env), client_(client) {}
  void start() {}

  static bool has(std::string_view path) { return app_of(path) != nullptr; }
  // True for paths that need no user: health.
  static bool is_open(std::string_view path);
  // `asker`: null for an open path only.
  void serve(rt::HttpRequest http, std::shared_ptr<Asker> asker, std::shared_ptr<rt::HttpExchange> exchange);

 private:
  struct Work;
  void go_on(const std::shared_ptr<Work>& work);
  void ask(const std::shared_ptr<Work>& work, client::Request request);
  void serve_lines(const std::shared_ptr<Work>& work, std::string target);

  rt::Env& env_;
  client::Client& client_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace webapps
