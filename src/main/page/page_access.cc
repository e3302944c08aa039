// Users of the API as visitors of the page, and back.
#include "main/page/page_access.h"

#include <unistd.h>

#include <utility>

#include "base/format.h"
#include "cli/reasons.h"

namespace volcano_main {
namespace {

class PageAccess final : public apiserver::BrowserAccess {
 public:
  PageAccess(std::shared_ptr<ui::PageServer> page, std::shared_ptr<ui::NotebookGate> gate)
      : page_(std::move(page)), gate_(std::move(gate)) {}

  bool has(std::string_view path) const override { return ui::PageServer::has(path) || ui::NotebookGate::has(path); }

  void serve(const rt::HttpRequest& http, const std::optional<apiserver::UserInfo>& caller,
             std::shared_ptr<rt::HttpExchange> exchange) const override {
    std::optional<ui::Visitor> visitor;
    if (caller) visitor = ui::Visitor{caller->name, caller->groups, caller->uid};
    if (ui::NotebookGate::has(rt::parse_target(http.target).path))
      return gate_->begin(http, visitor, std::move(exchange));
    page_->serve(http, visitor, std::move(exchange));
  }

  std::optional<base::Result<apiserver::UserInfo>> user_of(const rt::HttpRequest& http) const override {
    auto session = page_->session_of(http);
    if (!session) return std::nullopt;
    if (!session->ok()) return base::Result<apiserver::UserInfo>(session->take_error());
    ui::Visitor& visitor = (*session)->visitor;
    return base::Result<apiserver::UserInfo>(
        apiserver::UserInfo{std::move(visitor.name), std::move(visitor.groups), std::move(visitor.uid)});
  }

 private:
  std::shared_ptr<ui::PageServer> page_;
  std::shared_ptr<ui::NotebookGate> gate_;
};

std::string explain_group(const api::Json& group, const api::Json& queue) {
  return cli::reason_of(group, queue.is_null() ? nullptr : &queue, api::Json::object(), {});
}

}  // namespace

PageHost::PageHost(PageHostOptions options, rt::Env& env)
    : origins_(std::move(options.notebooks)),
      page_(std::make_shared<ui::PageServer>(ui::PageOptions{.secret = options.secret,
                                                             .tls = options.tls,
                                                             .hosts = options.hosts,
                                                             .now = [&env] { return env.now(); },
                                                             .loop = &env.loop()})) {
  const auto way = way_;
  ui::GateOptions gate{.secret = options.secret, .tls = options.tls, .hosts = options.hosts};
  gate.now = [&env] { return env.now(); };
  gate.loop = &env.loop();
  gate.send = [way](const ui::Visitor& visitor, rt::HttpRequest http, bool as_read,
                    std::shared_ptr<rt::HttpExchange> exchange) {
    const std::shared_ptr<const Way> now = way->load();
    if (now) return now->send(visitor, std::move(http), as_read, std::move(exchange));
    exchange->respond({503, {}, "the server starts, or stops\n", {}});
  };
  gate.explain = explain_group;
  gate.port_of = [this](const std::string& ns) { return origins_.port_of(ns, gate_); };
  gate.page_port = [way] {
    const std::shared_ptr<const Way> now = way->load();
    return now ? now->port : std::uint16_t{0};
  };
  gate_ = std::make_shared<ui::NotebookGate>(std::move(gate), page_);
}

std::shared_ptr<const apiserver::BrowserAccess> PageHost::access() const {
  return std::make_shared<PageAccess>(page_, gate_);
}

void PageHost::begin(ui::SendAs send, std::uint16_t port) {
  way_->store(std::make_shared<const Way>(Way{std::move(send), port}));
}

void PageHost::end() {
  way_->store(nullptr);
  origins_.close();
}

std::string PageHost::hint(const std::string& url) const {
  if (isatty(STDOUT_FILENO) != 1) return "a link to the page";
  return base::format("another link to the page; this one is good once:\n\n  {}{}", url,
                      page_->new_link({"volcano-admin", {"system:masters"}}));
}

ui::SendAs send_by(apiserver::Server& server) {
  return [&server](const ui::Visitor& visitor, rt::HttpRequest http, bool as_read,
                   std::shared_ptr<rt::HttpExchange> exchange) {
    server.serve_as({visitor.name, visitor.groups, visitor.uid}, std::move(http), as_read, std::move(exchange));
  };
}

}  // namespace volcano_main
