// Object, pods, group, queue, events: each is asked for where the one before does not say enough.
#include "ui/notebooks/notebook_look.h"

#include <utility>

#include "api/meta/resource.h"
#include "api/schema/names.h"
#include "base/format.h"
#include "ui/notebooks/passing_exchange.h"

namespace ui {
namespace {

using api::Json;

constexpr std::string_view kGroupAnnotation = "scheduling.k8s.io/group-name";

Json parsed_or_null(const std::string& body) {
  auto parsed = api::parse_json(body);
  return parsed.ok() ? *std::move(parsed) : Json();
}

struct NotebookReading : std::enable_shared_from_this<NotebookReading> {
  SendAs send;
  ExplainGroup explain;
  Visitor visitor;
  NotebookPlace place;
  std::function<void(NotebookLook)> done;
  api::NotebookSeen seen = {};

  // `next` gets the object; null where there is none, or the visitor may not see it.
  void ask(const std::string& path, std::function<void(int status, Json body)> next) {
    rt::HttpRequest http{.method = "GET", .target = path, .headers = {{"Accept", "application/json"}}};
    send(visitor, std::move(http), false,
         kept_answer([self = shared_from_this(), next = std::move(next)](int status, std::string body) {
           next(status, parsed_or_null(body));
         }));
  }

  void begin() {
    ask(place.object_path(), [this](int status, Json body) {
      if (status == 403) return done({{}, body["message"].str()});
      if (status == 200) seen.object = std::move(body);
      if (!seen.object.is_object()) return end();
      look_at_pods();
    });
  }
  void look_at_pods() {
    ask(base::format("/api/v1/namespaces/{}/pods?labelSelector={}", place.ns, place.pod_selector()),
        [this](int status, Json body) {
          if (status == 200)
            for (const Json& pod : body["items"].items()) seen.pods.push_back(pod);
          const Json* pod = api::pod_that_counts(seen.pods);
          const std::string group(pod == nullptr ? "" : api::annotation_of(*pod, kGroupAnnotation));
          const bool waits = pod != nullptr && (*pod)["spec"]["nodeName"].as_string().empty();
          if (waits && api::is_dns_subdomain(group)) return look_at_group(group);
          look_at_events();
        });
  }
  void look_at_group(const std::string& name) {
    ask(base::format("/apis/scheduling.volcano.sh/v1beta1/namespaces/{}/podgroups/{}", place.ns, name),
        [this](int status, Json group) {
          if (status != 200) return look_at_events();
          const std::string queue = group["spec"]["queue"].str();
          if (!api::is_dns_subdomain(queue)) return look_at_events();
          ask("/apis/scheduling.volcano.sh/v1beta1/queues/" + queue, [this, group](int found, Json object) {
            // A visitor who may not see queues still hears of the group.
            const Json open = Json::object({{"metadata", Json::object({{"name", group["spec"]["queue"]}})}});
            seen.group_waits = explain(group, found == 200 ? object : found == 403 ? open : Json());
            end();
          });
        });
  }
  void look_at_events() {
    ask(base::format("/api/v1/namespaces/{}/events?fieldSelector=involvedObject.name%3D{}", place.ns, place.name),
        [this](int status, Json body) {
          if (status == 200)
            for (const Json& event : body["items"].items()) seen.events.push_back(event);
          end();
        });
  }
  void end() { done({api::notebook_state(seen)}); }
};

}  // namespace

void check_access(const SendAs& send, const Visitor& visitor, const NotebookPlace& place,
                  std::function<void(base::Status)> done) {
  const Json request = Json::object({{"namespace", place.ns},
                                     {"verb", "get"},
                                     {"resource", "services"},
                                     {"subresource", "proxy"},
                                     {"name", place.name}});
  const Json review = Json::object({{"apiVersion", "authorization.k8s.io/v1"},
                                    {"kind", "SelfSubjectAccessReview"},
                                    {"spec", Json::object({{"resourceAttributes", request}})}});
  rt::HttpRequest asked{.method = "POST",
                        .target = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                        .headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
                        .body = review.dump()};
  const auto look_for_namespace = [send, visitor, place, done] {
    rt::HttpRequest get{
        .method = "GET", .target = "/api/v1/namespaces/" + place.ns, .headers = {{"Accept", "application/json"}}};
    send(visitor, std::move(get), false, kept_answer([place, done](int status, const std::string&) {
           // A visitor who may not read namespaces may still open a notebook in one.
           if (status != 404) return done({});
           done(base::make_error(base::Code::kNotFound, base::format("there is no namespace {}", place.ns)));
         }));
  };
  send(visitor, std::move(asked), false,
       kept_answer([visitor, place, done, look_for_namespace](int status, const std::string& body) {
         const Json answer = parsed_or_null(body);
         if (answer["status"]["allowed"].as_bool(false)) return look_for_namespace();
         if (status >= 400)
           return done(base::make_error(base::Code::kUnavailable, base::format("the API server answers {}: {}", status,
                                                                               answer["message"].as_string())));
         done(base::make_error(base::Code::kForbidden,
                               base::format("{} cannot be opened: user {:?} has no right to `get` services/proxy in "
                                            "namespace {}",
                                            place.text(), visitor.name, place.ns)));
       }));
}

void look_at_route(const SendAs& send, const Visitor& visitor, const NotebookPlace& place,
                   std::function<void(NotebookRoute)> done) {
  if (place.kind != NotebookPlace::Kind::kNotebook) return done(place.route(Json()));
  rt::HttpRequest get{.method = "GET", .target = place.object_path(), .headers = {{"Accept", "application/json"}}};
  send(visitor, std::move(get), false, kept_answer([place, done](int status, const std::string& body) {
         done(place.route(status == 200 ? parsed_or_null(body) : Json()));
       }));
}

void look_at_notebook(const SendAs& send, const ExplainGroup& explain, const Visitor& visitor,
                      const NotebookPlace& place, std::function<void(NotebookLook)> done) {
  const auto look = std::make_shared<NotebookReading>();
  look->send = send;
  look->explain = explain;
  look->visitor = visitor;
  look->place = place;
  look->done = std::move(done);
  look->begin();
}

}  // namespace ui
