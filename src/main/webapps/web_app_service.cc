// A proxy that lets people in names them in a header, and needs the right to impersonate them: the header alone is
// nobody's proof. COMPAT(web-apps)
#include "main/webapps/web_app_service.h"

#include <cstdlib>
#include <utility>

#include "main/host/base/beside_call.h"
#include "webapps/answers.h"

namespace volcano_main {
namespace {

constexpr std::string_view kManager = "kubeflow-web-apps";

class ServedAsker final : public webapps::Asker {
 public:
  ServedAsker(rt::Loop& loop, apiserver::BesideCaller caller) : loop_(loop), caller_(std::move(caller)) {}

  std::string name() const override { return caller_.user.name; }
  void call(client::Request request, client::Client::OnResult on_result) override {
    call_beside(caller_, loop_, std::string(kManager), std::move(request), std::move(on_result));
  }
  void read(std::string target, std::function<void(int status, std::string body)> on_text) override {
    read_beside(caller_, loop_, std::move(target), std::move(on_text));
  }

 private:
  rt::Loop& loop_;
  const apiserver::BesideCaller caller_;
};

}  // namespace

UserHeader user_header_of_environment() {
  UserHeader header;
  if (const char* name = std::getenv("USERID_HEADER"); name != nullptr && *name != '\0') header.name = name;
  if (const char* prefix = std::getenv("USERID_PREFIX"); prefix != nullptr) header.prefix = prefix;
  return header;
}

// The host outlives the API server, which asks it.
class WebAppService::Door final : public apiserver::Beside {
 public:
  Door(std::shared_ptr<std::atomic<Host*>> open, UserHeader header)
      : open_(std::move(open)), header_(std::move(header)) {}

  bool has(std::string_view path) const override { return webapps::Server::has(path); }
  bool is_open(std::string_view path) const override { return webapps::Server::is_open(path); }
  std::string_view audience() const override { return "kubeflow.org"; }

  std::string acting_as(const rt::HttpRequest& http) const override {
    std::string_view named = rt::header(http.headers, header_.name);
    if (named.starts_with(header_.prefix)) named.remove_prefix(header_.prefix.size());
    return std::string(named);
  }

  void serve(rt::HttpRequest http, std::optional<apiserver::BesideCaller> caller,
             std::shared_ptr<rt::HttpExchange> exchange) const override {
    Host* host = open_->load();
    if (host == nullptr) return exchange->respond(refusal(closed()));
    rt::Loop& loop = host->env->loop();
    std::shared_ptr<webapps::Asker> asker;
    if (caller) asker = std::make_shared<ServedAsker>(loop, *std::move(caller));
    loop.post([this_refusal = refusal(closed()), host, http = std::move(http), asker = std::move(asker),
               exchange = std::move(exchange)]() mutable {
      if (!host->part) return exchange->respond(std::move(this_refusal));
      host->part->serve(std::move(http), std::move(asker), std::move(exchange));
    });
  }

  rt::HttpResponse refusal(const base::Error& error) const override {
    return webapps::bad_answer(webapps::apps().front(), {}, error);
  }

 private:
  static base::Error closed() { return base::make_error(base::Code::kUnavailable, "the server starts or stops"); }

  const std::shared_ptr<std::atomic<Host*>> open_;
  const UserHeader header_;
};

std::shared_ptr<const apiserver::Beside> WebAppService::beside(UserHeader header) const {
  return std::make_shared<Door>(open_, std::move(header));
}

void WebAppService::start(apiserver::Api& api) {
  host_.start("web-apps", api,
              [](rt::Env& env, client::Client& client) { return std::make_unique<webapps::Server>(env, client); });
  open_->store(&host_);
}

void WebAppService::stop() {
  open_->store(nullptr);
  host_.stop();
}

}  // namespace volcano_main
