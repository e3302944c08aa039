// Users of the API as visitors of the page, and back.
#include "main/page/page_access.h"

#include <utility>

namespace volcano_main {
namespace {

class PageAccess final : public apiserver::BrowserAccess {
 public:
  explicit PageAccess(std::shared_ptr<ui::PageServer> page) : page_(std::move(page)) {}

  bool has(std::string_view path) const override { return ui::PageServer::has(path); }

  void serve(const rt::HttpRequest& http, const std::optional<apiserver::UserInfo>& caller,
             std::shared_ptr<rt::HttpExchange> exchange) const override {
    std::optional<ui::Visitor> visitor;
    if (caller) visitor = ui::Visitor{caller->name, caller->groups, caller->uid};
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
};

}  // namespace

std::shared_ptr<ui::PageServer> make_page(std::string secret, std::vector<std::string> hosts, bool tls, rt::Env& env) {
  return std::make_shared<ui::PageServer>(ui::PageOptions{.secret = std::move(secret),
                                                          .tls = tls,
                                                          .hosts = std::move(hosts),
                                                          .now = [&env] { return env.now(); },
                                                          .loop = &env.loop()});
}

std::shared_ptr<const apiserver::BrowserAccess> page_access(std::shared_ptr<ui::PageServer> page) {
  return std::make_shared<PageAccess>(std::move(page));
}

}  // namespace volcano_main
