// The way from the page's session to a notebook. A notebook's page is somebody's code: it lives on an origin of its
// namespace (a port of its own), with a session that is good there and nowhere else, made by a code that is good once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "rt/http/http.h"
#include "rt/loop/loop.h"
#include "ui/notebooks/notebook_look.h"
#include "ui/notebooks/notebook_place.h"
#include "ui/page_server.h"

namespace ui {

struct GateOptions {
  std::string secret;  // as the page's
  bool tls = true;
  std::vector<std::string> hosts = {};
  std::function<base::Time()> now;  // any thread
  rt::Loop* loop = nullptr;         // on which codes are redeemed and origins begin; outlives the gate
  SendAs send;                      // any thread
  ExplainGroup explain;             // any thread
  // The port on which serve() of this namespace is asked. Loop thread.
  std::function<base::Result<std::uint16_t>(const std::string& ns)> port_of;
  std::function<std::uint16_t()> page_port;  // any thread
};

class NotebookGate : public std::enable_shared_from_this<NotebookGate> {
 public:
  NotebookGate(GateOptions options, std::shared_ptr<PageServer> page);

  // True for paths on the page's own origin that begin() answers.
  static bool has(std::string_view path);
  // On the page's own origin: a notebook's link leads to its origin, or says why not. `caller` as of the page. Any
  // thread.
  void begin(const rt::HttpRequest& http, const std::optional<Visitor>& caller,
             std::shared_ptr<rt::HttpExchange> exchange);

  // On the origin of namespace `ns`, three of them; any thread. The refusal of a request whose body is not there yet.
  std::optional<rt::HttpResponse> refusal(const std::string& ns, const rt::HttpRequest& http) const;
  void serve(const std::string& ns, rt::HttpRequest http, std::shared_ptr<rt::HttpExchange> exchange);
  // The user whose request it is; nothing: a stranger's.
  std::optional<std::string> user_of(const std::string& ns, const rt::HttpRequest& http) const;

 private:
  using Exchange = std::shared_ptr<rt::HttpExchange>;

  Sessions& sessions_of(const std::string& ns);  // loop thread
  std::string cookie_name(const std::string& ns) const;
  base::Result<Session> session_at(const std::string& ns, const rt::HttpRequest& http) const;
  base::Status check(const std::string& ns, const rt::HttpRequest& http) const;
  std::string url(const rt::HttpRequest& http, std::uint16_t port) const;
  void hand_over(const rt::HttpRequest& http, const NotebookPlace& place, const Visitor& visitor,
                 const Exchange& exchange);
  void enter(const std::string& ns, const rt::HttpRequest& http, const rt::Target& target, Exchange exchange);
  void find_route(const Visitor& visitor, const NotebookPlace& place, rt::HttpRequest http, Exchange exchange);
  void relay(const Visitor& visitor, const NotebookPlace& place, const NotebookRoute& route, rt::HttpRequest http,
             Exchange exchange) const;
  void show_state(const rt::HttpRequest& http, const NotebookPlace& place, const Session& session, Exchange exchange);
  void start(const NotebookPlace& place, const std::string& to, const Session& session, Exchange exchange);

  const GateOptions options_;
  const std::shared_ptr<PageServer> page_;
  struct KnownRoute {
    NotebookRoute route;
    base::Time until;
  };
  std::map<std::string, KnownRoute> routes_;  // by prefix and visitor; loop thread
  std::map<std::string, Sessions> sessions_;  // by namespace; they know which codes were used. Loop thread
};

}  // namespace ui
