// The REST API of pipelines on the API server's own port, with a loop of its own.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "apiserver/http/access.h"
#include "main/host/base/component.h"
#include "pipelines/rest/server.h"

namespace volcano_main {

class PipelineService {
 public:
  // For the API server's options. Requests are refused until start(), and after stop().
  std::shared_ptr<const apiserver::Beside> beside() const;
  // `volumes`: the folder of this machine's volumes, in which artifacts are.
  void start(apiserver::Api& api, const std::string& volumes);
  void stop();

 private:
  using Host = Component<pipelines::rest::Server>;
  class Door;

  // Requests come on many threads; null: none is taken.
  std::shared_ptr<std::atomic<Host*>> open_ = std::make_shared<std::atomic<Host*>>(nullptr);
  Host host_;
};

}  // namespace volcano_main
