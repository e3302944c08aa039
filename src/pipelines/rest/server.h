// The REST API of Kubeflow's pipelines: requests in, answers out, everything done with the rights of the user who asks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipelines/rest/asker.h"
#include "pipelines/rest/call.h"
#include "pipelines/rest/facts.h"
#include "pipelines/rest/index.h"
#include "pipelines/rest/routes.h"
#include "rt/env.h"

namespace pipelines::rest {

struct ServerOptions {
  std::string ns = {};                // the only namespace whose objects are known; empty: all of them
  std::vector<RouteTable> more = {};  // versions of the API beside v2beta1
  // Reads a file of a volume of this machine, off the loop; unset: artifacts are not on this machine.
  std::function<base::Result<StoredBytes>(const StoredFile& file)> read_file = {};
};

// Everything on the loop of `env`. `client` has the rights of the program itself, with which names of objects are
// watched.
class Server {
 public:
  Server(rt::Env& env, client::Client& client, ServerOptions options = {});
  void start() {}

  // True for every path that serve() answers.
  static bool has(std::string_view path);
  // True for paths that need no user: health.
  static bool is_open(std::string_view path);
  // `asker`: null for an open path only.
  void serve(rt::HttpRequest http, std::shared_ptr<Asker> asker, std::shared_ptr<rt::HttpExchange> exchange);

 private:
  struct Work;
  void begin(const std::shared_ptr<Work>& work);
  void go_on(const std::shared_ptr<Work>& work);
  void serve_file(const StoredFile& file, const std::shared_ptr<rt::HttpExchange>& exchange);
  void serve_object(const StoredObject& object, const std::shared_ptr<rt::HttpExchange>& exchange);

  rt::Env& env_;
  Index index_;
  ObjectReader objects_;
  Facts::Ids ids_;
  const std::vector<RouteTable> more_;
  std::function<base::Result<StoredBytes>(const StoredFile& file)> read_file_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace pipelines::rest
