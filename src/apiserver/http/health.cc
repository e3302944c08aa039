// Readiness needs all checks, liveness none: a restart mends neither a full disk nor a slow start.
#include "apiserver/http/health.h"

#include "base/format.h"

namespace apiserver {

rt::HttpResponse health_answer(std::string_view path, bool verbose, const Health& health) {
  const bool healthy = path == "/readyz" ? health.ready && !health.failing && !health.stands_still : true;
  rt::HttpResponse response;
  response.status = healthy ? 200 : 500;
  response.headers = {{"Content-Type", "text/plain; charset=utf-8"}, {"X-Content-Type-Options", "nosniff"}};
  response.body = healthy ? "ok" : "not ready";
  if (verbose)
    response.body = base::format("[+]ping ok\n[{}]storage {}\n[{}]loop {}\n[{}]start {}\n{} check {}\n",
                                 health.failing ? '-' : '+', health.failing ? "failed" : "ok",
                                 health.stands_still ? '-' : '+', health.stands_still ? "stands still" : "ok",
                                 health.ready ? '+' : '-', health.ready ? "ok" : "not finished", path.substr(1),
                                 healthy ? "passed" : "failed");
  return response;
}

}  // namespace apiserver
