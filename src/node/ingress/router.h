// The Ingress controller of one machine: it keeps the routes current, opens its ports while there is an Ingress of its
// class, and says what cannot be served.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "client/events/event_recorder.h"
#include "client/watch/informer.h"
#include "node/ingress/certificates.h"
#include "node/ingress/door.h"
#include "rt/env.h"
#include "rt/http/server/http_server.h"

namespace node::ingress {

struct RouterOptions {
  std::string address;                             // of this machine, as Ingresses say it
  std::uint16_t http_port = 80, https_port = 443;  // 0: none
  std::function<bool(std::string_view name)> is_own_cookie = [](std::string_view) { return false; };
};

// Everything on the loop of `env`.
class Router {
 public:
  Router(rt::Env& env, client::Client& client, RouterOptions options);
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  void start();

 private:
  struct Namespace;
  struct Port {
    std::string_view flag;
    std::uint16_t number = 0;
    std::unique_ptr<rt::HttpServer> server = nullptr;
    std::string trouble = {};  // why it is not open
  };
  using Wrong = std::map<std::string, std::vector<std::string>>;  // by key of an Ingress: what cannot be served

  void keep_class();
  void look_soon();
  void look();
  std::vector<const api::Json*> ours() const;
  void follow(const std::vector<const api::Json*>& ingresses);
  void check_backends(const std::vector<const api::Json*>& ingresses, Wrong& wrong) const;
  void keep_ports(const std::vector<const api::Json*>& ingresses, Wrong& wrong);
  void open(Port& port, bool wanted, bool tls);
  std::string taker_of(const Port& port, std::string_view ns) const;
  base::Status use_keys(const std::vector<rt::NamedKeys>& named);
  void report(const Wrong& wrong);
  void write_statuses();
  void write(const api::Json& ingress, api::Json wanted);
  api::Json status_of(const api::Json& ingress) const;
  std::vector<Endpoint> endpoints(const Backend& backend) const;
  static Objects objects_of(const Namespace& of);

  rt::Env& env_;
  client::Client& client_;
  const RouterOptions options_;
  client::EventRecorder events_;
  client::Informer ingresses_, classes_;
  client::Informer balancers_;                                    // Services of type LoadBalancer
  std::map<std::string, std::unique_ptr<Namespace>> namespaces_;  // those with an Ingress of ours
  std::shared_ptr<Door> door_;
  std::shared_ptr<const Routes> routes_ = std::make_shared<Routes>();
  Port http_, https_;
  rt::ServerKeys keys_;                                    // of the port for TLS
  std::map<std::string, std::set<std::string>> reported_;  // by uid
  std::set<std::string> given_;                            // uids of those that have an address of ours
  bool due_ = false, class_kept_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace node::ingress
