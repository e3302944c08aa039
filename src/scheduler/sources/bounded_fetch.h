// How is another program asked over HTTP, within a time and a size?
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "rt/env.h"
#include "rt/http/client/http_client.h"

namespace scheduler {

struct FetchRequest {
  std::string method = "GET";
  std::string url;  // http:// or https://
  std::string body;
  base::Duration timeout = base::seconds(1);
  std::size_t bytes_max = 10 << 20;
  bool insecure_skip_verify = false;
};

// On the loop of `env`, which must outlive it. Destroying it ends what is under way without a callback.
class BoundedFetch {
 public:
  explicit BoundedFetch(rt::Env& env) : env_(env) {}
  ~BoundedFetch();
  BoundedFetch(const BoundedFetch&) = delete;
  BoundedFetch& operator=(const BoundedFetch&) = delete;

  // Calls `done` once, never before it returns: with the body of a 200, or with why there is none.
  using Done = std::function<void(base::Result<std::string>)>;
  void fetch(FetchRequest request, Done done);
  std::size_t under_way() const { return calls_.size(); }

 private:
  struct Call {
    std::unique_ptr<rt::HttpStream> stream;
    rt::Loop::TimerId timer = 0;
    int status = 0;
    std::string body;
    std::size_t bytes_max = 0;
    Done done;
  };
  base::Result<rt::HttpClient*> client_for(const FetchRequest& request, std::string& target);
  void end(std::uint64_t id, base::Result<std::string> result);

  rt::Env& env_;
  std::map<std::string, std::unique_ptr<rt::HttpClient>> clients_;
  std::map<std::uint64_t, std::shared_ptr<Call>> calls_;
  std::uint64_t next_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace scheduler
