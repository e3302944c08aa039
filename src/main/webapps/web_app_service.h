// The REST back ends of Kubeflow's web applications on the API server's own port, with a loop of their own.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "apiserver/http/access.h"
#include "main/host/base/component.h"
#include "webapps/server.h"

namespace volcano_main {

// The header in which a proxy names the user that it let in, and what stands before the name.
struct UserHeader {
  std::string name = "kubeflow-userid";
  std::string prefix = {};
};

// By the variables USERID_HEADER and USERID_PREFIX, as Kubeflow's own back ends.
UserHeader user_header_of_environment();

class WebAppService {
 public:
  // For the API server's options. Requests are refused until start(), and after stop().
  std::shared_ptr<const apiserver::Beside> beside(UserHeader header) const;
  void start(apiserver::Api& api);
  void stop();

 private:
  using Host = Component<webapps::Server>;
  class Door;

  // Requests come on many threads; null: none is taken.
  std::shared_ptr<std::atomic<Host*>> open_ = std::make_shared<std::atomic<Host*>>(nullptr);
  Host host_;
};

}  // namespace volcano_main
