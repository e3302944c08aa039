// A token of a service account that is meant for pipelines opens no door of the API server, so its account is acted as;
// any other token is shown to the API server as it came, and gives what it gives there.
#include "main/pipelines/pipeline_callers.h"

#include <algorithm>
#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/split.h"
#include "base/trim.h"

namespace volcano_main {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr base::Duration kKnownFor = base::seconds(10);
constexpr std::size_t kKnownMax = 1000, kAskedMax = 256, kTokenMax = std::size_t{64} << 10, kNameMax = 1024;
constexpr std::string_view kAccount = "system:serviceaccount:", kBearer = "Bearer ";
constexpr std::string_view kPodName = "authentication.kubernetes.io/pod-name";
const api::ResourceId kTokenReviews{"authentication.k8s.io", "v1", "tokenreviews"};

std::string token_of(const rt::HttpRequest& http) {
  const std::string_view value = rt::header(http.headers, "Authorization");
  if (value.size() <= kBearer.size() || !rt::same_header(value.substr(0, kBearer.size()), kBearer)) return {};
  return std::string(base::trim(value.substr(kBearer.size())));
}

base::Error unknown_token() {
  return make_error(Code::kUnauthorized, "Unauthorized: the cluster does not accept this token");
}

// Names of the cluster's own parts come from no proxy.
bool is_name(std::string_view name) {
  const auto is_plain = [](char one) { return static_cast<unsigned char>(one) >= ' ' && one != 0x7f; };
  return !name.empty() && name.size() <= kNameMax && !name.starts_with("system:") &&
         std::ranges::all_of(name, is_plain);
}

bool holds(const Json& list, std::string_view text) {
  return std::ranges::any_of(list.items(), [text](const Json& one) { return one.as_string() == text; });
}

}  // namespace

std::optional<base::Result<PipelineCaller>> PipelineCallers::by_header(const rt::HttpRequest& http) const {
  if (headers_.user.empty()) return std::nullopt;
  const std::vector<std::string_view> values = rt::all_headers(http.headers, headers_.user);
  if (values.empty()) return std::nullopt;
  std::string_view name = base::trim(values.front());
  if (name.starts_with(headers_.user_prefix)) name.remove_prefix(headers_.user_prefix.size());
  if (values.size() != 1 || !is_name(name))
    return make_error(Code::kUnauthorized, base::format("the header {} names no user", headers_.user));
  PipelineCaller caller{.user = std::string(name)};
  if (headers_.groups.empty()) return caller;
  for (const std::string_view value : rt::all_headers(http.headers, headers_.groups))
    for (const std::string_view word : base::split_words(value, ',')) {
      const std::string_view group = base::trim(word);
      if (!group.empty() && !is_name(group))
        return make_error(Code::kUnauthorized,
                          base::format("the header {} names a group that no proxy gives", headers_.groups));
      if (!group.empty()) caller.groups.emplace_back(group);
    }
  return caller;
}

void PipelineCallers::find(const rt::HttpRequest& http, OnCaller done) {
  // A page of another site makes its reader's browser ask with the proxy's session.
  if (rt::same_header(rt::header(http.headers, "Sec-Fetch-Site"), "cross-site"))
    return done(make_error(Code::kForbidden, "pages of other sites are not served here"));
  if (auto caller = by_header(http)) return done(*std::move(caller));
  const std::string token = token_of(http);
  if (token.empty() || token.size() > kTokenMax)
    return done(make_error(Code::kUnauthorized, "Unauthorized: there is no bearer token in the request"));
  if (const auto known = known_.find(token); known != known_.end() && env_.uptime() < known->second.until)
    return done(known->second.caller);
  if (const auto asked = asked_.find(token); asked != asked_.end()) return asked->second.push_back(std::move(done));
  if (asked_.size() >= kAskedMax)
    return done(make_error(Code::kTooManyRequests, "too many tokens are looked at already"));
  asked_[token].push_back(std::move(done));
  review(token, true, [this, token](base::Result<PipelineCaller> caller) {
    remember(token, caller);
    const std::vector<OnCaller> all = std::exchange(asked_[token], {});
    asked_.erase(token);
    for (const OnCaller& one : all) one(caller);
  });
}

void PipelineCallers::find_step(const rt::HttpRequest& http, OnCaller done) {
  const std::string token = token_of(http);
  if (token.empty() || token.size() > kTokenMax) return done(unknown_token());
  review(token, true, [done = std::move(done)](const base::Result<PipelineCaller>& caller) {
    if (!caller.ok()) return done(caller);
    if (caller->pod.empty() || !caller->token.empty())
      return done(make_error(Code::kForbidden, "the token is not that of a step's pod"));
    done(caller);
  });
}

void PipelineCallers::review(const std::string& token, bool is_for_pipelines, const OnCaller& done) {
  Json spec = Json::object({{"token", token}});
  if (is_for_pipelines) spec.set("audiences", Json::array({Json(kPipelinesAudience)}));
  client::Request request{
      .verb = client::Verb::kCreate, .resource = kTokenReviews, .ns = {}, .name = {}, .subresource = {}};
  request.body =
      Json::object({{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenReview"}, {"spec", std::move(spec)}});
  client_.call(std::move(request), [this, token, is_for_pipelines, done](base::Result<Json> answer) {
    if (!answer.ok())
      return done(make_error(Code::kUnavailable,
                             base::format("the cluster does not say whose token it is: {}", answer.error().message)));
    const Json& status = (*answer)["status"];
    const Json& user = status["user"];
    const std::string name = user["username"].str();
    const bool is_known = status["authenticated"].as_bool() && !name.empty();
    if (!is_for_pipelines)
      return done(is_known ? base::Result<PipelineCaller>(PipelineCaller{.user = name, .token = token})
                           : unknown_token());
    // A server that knows no audiences does not say for which of them the token is.
    if (!is_known || !holds(status["audiences"], kPipelinesAudience) || !name.starts_with(kAccount))
      return review(token, false, done);
    done(PipelineCaller{.user = name, .pod = user["extra"][kPodName][std::size_t{0}].str(), .is_for_pipelines = true});
  });
}

void PipelineCallers::remember(const std::string& token, const base::Result<PipelineCaller>& caller) {
  if (!caller.ok() && caller.error().code == Code::kUnavailable) return;
  if (!known_.contains(token)) order_.push_back(token);
  known_.insert_or_assign(token, Known{caller, env_.uptime() + kKnownFor});
  while (order_.size() > kKnownMax) {
    known_.erase(order_.front());
    order_.pop_front();
  }
}

}  // namespace volcano_main
