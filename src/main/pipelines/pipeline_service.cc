// The way from a user who was let in to requests of the API, made as that user.
#include "main/pipelines/pipeline_service.h"

#include <algorithm>
#include <utility>

#include "main/host/base/beside_call.h"
#include "pipelines/rest/answers.h"
#include "pipelines/rest/v1beta1/routes.h"
#include "rt/files/rooted_files.h"
#include "rt/files/rooted_folder.h"

namespace volcano_main {
namespace {

constexpr std::size_t kArtifactMax = std::size_t{32} << 20;  // a larger one is read where it is
constexpr std::string_view kManager = "kubeflow-pipelines", kAccount = "system:serviceaccount:";

base::Result<pipelines::StoredBytes> read_stored(const rt::RootedPath& path, std::size_t bytes_max) {
  if (bytes_max > 0) {
    TRY(rt::FileHead head, rt::read_rooted_head(path, std::min(bytes_max, kArtifactMax)));
    return pipelines::StoredBytes{std::move(head.bytes), head.size};
  }
  auto bytes = rt::read_rooted_file(path, kArtifactMax);
  const bool is_folder = !bytes.ok() && bytes.error().code == base::Code::kInvalid;
  if (is_folder) {
    auto tar = rt::rooted_folder_as_tar(path, kArtifactMax);
    if (tar.ok() || tar.error().code != base::Code::kInvalid) bytes = std::move(tar);
  }
  if (!bytes.ok()) return bytes.error();
  const std::size_t size = bytes->size();
  return pipelines::StoredBytes{*std::move(bytes), size, is_folder};
}

class ServedAsker final : public pipelines::rest::Asker {
 public:
  ServedAsker(rt::Loop& loop, apiserver::BesideCaller caller) : loop_(loop), caller_(std::move(caller)) {}

  void call(client::Request request, client::Client::OnResult on_result) override {
    call_beside(caller_, loop_, std::string(kManager), std::move(request), std::move(on_result));
  }

  void pass(std::string target, std::shared_ptr<rt::HttpExchange> exchange) override {
    caller_.send({.method = "GET", .target = std::move(target)}, std::move(exchange));
  }

  // A service account is at home in its namespace.
  std::string own_namespace() const override {
    if (!caller_.user.name.starts_with(kAccount)) return "default";
    const std::string rest = caller_.user.name.substr(kAccount.size());
    return rest.substr(0, rest.find(':'));
  }

 private:
  rt::Loop& loop_;
  const apiserver::BesideCaller caller_;
};

}  // namespace

// The host outlives the API server, which asks it.
class PipelineService::Door final : public apiserver::Beside {
 public:
  explicit Door(std::shared_ptr<std::atomic<Host*>> open) : open_(std::move(open)) {}

  bool has(std::string_view path) const override { return pipelines::rest::Server::has(path); }
  bool is_open(std::string_view path) const override { return pipelines::rest::Server::is_open(path); }
  std::string_view audience() const override { return "pipelines.kubeflow.org"; }

  void serve(rt::HttpRequest http, std::optional<apiserver::BesideCaller> caller,
             std::shared_ptr<rt::HttpExchange> exchange) const override {
    Host* host = open_->load();
    if (host == nullptr) return exchange->respond(refusal(closed()));
    rt::Loop& loop = host->env->loop();
    std::shared_ptr<pipelines::rest::Asker> asker;
    if (caller) asker = std::make_shared<ServedAsker>(loop, *std::move(caller));
    loop.post([host, http = std::move(http), asker = std::move(asker), exchange = std::move(exchange)]() mutable {
      if (!host->part) return exchange->respond(pipelines::rest::error_answer(closed()));
      host->part->serve(std::move(http), std::move(asker), std::move(exchange));
    });
  }

  rt::HttpResponse refusal(const base::Error& error) const override { return pipelines::rest::error_answer(error); }

 private:
  static base::Error closed() { return base::make_error(base::Code::kUnavailable, "the server starts, or stops"); }

  const std::shared_ptr<std::atomic<Host*>> open_;
};

std::shared_ptr<const apiserver::Beside> PipelineService::beside() const { return std::make_shared<Door>(open_); }

void PipelineService::start(apiserver::Api& api, const std::string& volumes) {
  host_.start("pipelines", api, [volumes](rt::Env& env, client::Client& client) {
    pipelines::rest::ServerOptions options{.more = pipelines::rest::v1beta1::routes()};
    options.read_file = [volumes](const pipelines::rest::StoredFile& file) {
      return read_stored({volumes + "/" + file.volume, file.path}, file.bytes_max);
    };
    return std::make_unique<pipelines::rest::Server>(env, client, std::move(options));
  });
  open_->store(&host_);
}

void PipelineService::stop() {
  open_->store(nullptr);
  host_.stop();
}

}  // namespace volcano_main
