// The answer of /version.
#include "main/host/base/server_version.h"

#include <charconv>

#include "base/format.h"
#include "base/log.h"
#include "client/http/wire.h"

namespace volcano_main {
namespace {

constexpr int kOldestMinor = 30;  // of Kubernetes 1: what is tested, and what our CRDs' rules (CEL) need
constexpr base::Duration kAskAgain = base::seconds(10);

}  // namespace

std::string version_trouble(const api::Json& version) {
  const std::string_view major = version["major"].as_string(), minor = version["minor"].as_string();
  int number = -1;
  std::from_chars(minor.data(), minor.data() + minor.size(), number);
  const std::string name = version["gitVersion"].str();
  if (number < 0) return base::format("the server does not say its version: {:?}", name);
  if (major != "1" || number < kOldestMinor)
    return base::format("the server is Kubernetes {}; 1.{} is the oldest that is supported: upgrade the control plane",
                        name, kOldestMinor);
  return {};
}

void ServerVersion::start(const client::ServerAccess& access) {
  auto opened = client::ServerConnection::open(access, component_, env_);
  if (!opened.ok()) return;  // whoever works with the server tells that
  server_ = *std::move(opened);
  ask();
}

void ServerVersion::ask() {
  rt::HttpRequest request;
  request.method = "GET";
  request.target = "/version";
  server_->complete(request);
  server_->http().send(std::move(request), [this](const base::Result<rt::HttpResponse>& response) { take(response); });
}

void ServerVersion::ask_later() {
  env_.loop().after(kAskAgain, [this, weak = std::weak_ptr<int>(alive_)] {
    if (!weak.expired()) ask();
  });
}

void ServerVersion::take(const base::Result<rt::HttpResponse>& response) {
  if (!response.ok()) return ask_later();
  const auto version = client::decode_response(*response);
  if (!version.ok()) return ask_later();
  const std::string trouble = version_trouble(*version);
  if (trouble.empty()) {
    if (!reported_.empty())
      base::log_info(component_, base::format("the server is Kubernetes {} now", (*version)["gitVersion"].as_string()));
    // The connection has done its work; not from within its own callback.
    return env_.loop().post([old = std::shared_ptr<client::ServerConnection>(std::move(server_))] {});
  }
  if (std::exchange(reported_, trouble) != trouble) base::log_warning(component_, trouble);
  ask_later();
}

}  // namespace volcano_main
