// Start and crash of the simulated API server.
#include "sim/world/server.h"

#include "base/format.h"

namespace sim {
namespace {
constexpr const char* kDiskPath = "objects";
}

Server::Server(Clock& clock, ExternalWorld& outside, Truth& truth, ServerSettings settings)
    : clock_(clock),
      outside_(outside),
      truth_(truth),
      settings_(std::move(settings)),
      disk_(seed_for(settings_.seed, "disk")) {
  outside_.set_disk(kDiskPath, disk_);
}

Server::~Server() {
  truth_.detach();
  connections_.clear();
  discarded_.clear();
  api_.reset();
  store_.reset();
}

void Server::start() {
  CHECK(!api_);
  env_ = std::make_unique<SimEnv>(clock_, seed_for(settings_.seed, base::format("apiserver {}", ++incarnation_)),
                                  &outside_, settings_.disk);
  auto disk = env_->open_store(kDiskPath, 0);
  CHECK(disk.ok());
  opened_disk_ = *std::move(disk);
  auto opened = store::Store::open(*env_, *opened_disk_, settings_.store);
  CHECK(opened.ok());  // a memory disk holds what we wrote
  store_ = *std::move(opened);
  truth_.attach(*store_);
  api_ = std::make_unique<apiserver::Api>(*env_, *store_, apiserver::ApiOptions{.hooks = settings_.hooks});
  has_basics_ = false;
  bootstrap();
}

void Server::bootstrap() {
  api_->bootstrap([this](base::Status status) {
    has_basics_ = status.ok();
    if (!has_basics_) env_->loop().after(base::seconds(1), [this] { bootstrap(); });
  });
}

void Server::crash() {
  CHECK(api_);
  auto broken = std::move(connections_);
  connections_.clear();
  truth_.detach();
  for (auto& [id, on_broken] : broken) on_broken();
  broken.clear();
  discarded_.clear();
  api_.reset();
  store_.reset();
  opened_disk_.reset();
  env_.reset();
}

std::uint64_t Server::connect(std::function<void()> on_broken) {
  CHECK(api_);
  connections_.emplace(next_connection_, std::move(on_broken));
  return next_connection_++;
}

void Server::discard(std::unique_ptr<apiserver::ApiWatch> watch) {
  if (!env_) return;
  discarded_.push_back(std::move(watch));
  env_->loop().post([this] { discarded_.clear(); });
}

}  // namespace sim
