// Calls of webhooks of strangers: one POST of JSON, and a bounded answer in bounded time.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/admission.h"
#include "api/policies/webhook.h"
#include "base/result.h"
#include "base/time.h"
#include "rt/env.h"

namespace apiserver {

// Answers are no longer than the requests that a client may send.
inline constexpr std::size_t kWebhookAnswerBytesMax = std::size_t{3} << 20;

// Loop thread only. Worlds without a network have none.
class WebhookCaller {
 public:
  // The body of an answer of status 200, or what went wrong, in the words of Kubernetes.
  using OnReply = std::function<void(base::Result<std::string>)>;

  virtual ~WebhookCaller() = default;
  // `objects` finds the Service and its endpoints. `on_reply` comes on the loop, `timeout` from now at the latest.
  virtual void call(const api::ObjectReader& objects, const api::policies::WebhookAddress& address, std::string body,
                    base::Duration timeout, OnReply on_reply) = 0;
};

// Keeps the connections of the webhooks that were called last. It must not outlive `env`.
std::unique_ptr<WebhookCaller> make_webhook_caller(rt::Env& env);

}  // namespace apiserver
