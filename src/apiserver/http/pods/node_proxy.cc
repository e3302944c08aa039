// Which page, of which node.
#include "apiserver/http/pods/node_proxy.h"

#include "api/kinds.h"
#include "apiserver/http/answers.h"
#include "base/format.h"

namespace apiserver {

using base::Code;
using base::make_error;

namespace {

// Loop thread.
base::Status check_node(Api& api, const api::NodeUsageSource* source, const Request& request) {
  if (!api.store().find(request.resource, "", request.name, store::View::kDurable))
    return not_found(*request.kind, request.name);
  const auto usage = source == nullptr ? nullptr : source->latest();
  if (usage && usage->node == request.name) return {};
  return make_error(Code::kUnavailable,
                    base::format("the agent of node {:?} is not reached: none in this process has its name, and others "
                                 "are not asked",
                                 request.name));
}

}  // namespace

bool is_node_proxy(const Request& request) {
  return request.subresource == "proxy" && request.kind->kind == "Node" && request.kind->resource.group.empty();
}

std::string proxied_path(std::string_view path) {
  // "/api/v1/nodes/NAME/proxy/..."
  for (int parts = 0; parts < 5; ++parts) {
    path.remove_prefix(std::min(path.size(), path.find_first_not_of('/')));
    path.remove_prefix(std::min(path.size(), path.find('/')));
  }
  return path.empty() ? "/" : std::string(path);
}

std::string_view right_for_page(std::string_view proxied) {
  if (proxied == "/stats" || proxied.starts_with("/stats/")) return "stats";
  if (proxied == "/metrics" || proxied.starts_with("/metrics/")) return "metrics";
  return {};
}

void serve_node_proxy(Api& api, api::NodeUsageSource* source, Request request, const rt::Target& target,
                      Encoding encoding, std::shared_ptr<rt::HttpExchange> exchange) {
  if (request.verb != Verb::kGet)
    return fail(*exchange,
                make_error(Code::kMethodNotAllowed, "the server does not allow this method on the requested resource"),
                encoding);
  api.env().loop().post([&api, source, request = std::move(request), path = proxied_path(target.path), encoding,
                         exchange = std::move(exchange)] {
    if (const base::Status fine = check_node(api, source, request); !fine.ok())
      return fail(*exchange, fine.error(), encoding);
    api.side_work().run(
        [source, path, encoding, exchange] {
          auto page = source->page(path);
          if (!page)
            return fail(*exchange,
                        make_error(Code::kNotFound, base::format("the node has no page {}: there are /stats/summary, "
                                                                 "/metrics/resource, /metrics/cadvisor and /healthz",
                                                                 path)),
                        encoding);
          exchange->respond({200, {{"Content-Type", page->content_type}}, std::move(page->body)});
        },
        [] {});
  });
}

}  // namespace apiserver
