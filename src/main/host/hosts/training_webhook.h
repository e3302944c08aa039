// The admission webhook of the training operator (training.md 3, 10.1): a certificate that it makes, keeps in a Secret
// and puts into the webhook configuration, and the rules behind HTTPS.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "client/client.h"
#include "rt/env.h"

namespace volcano_main {

struct TrainingWebhookOptions {
  std::uint16_t port = 9443;
  std::string service = "training-operator";              // the certificate is for <service>.<ns>.svc
  std::string secret = "training-operator-webhook-cert";  // ca.crt, ca.key, tls.crt, tls.key
  std::string ns = "kubeflow";                            // of the service and the Secret
  std::string configuration = "validator.training-operator.kubeflow.org";
};

// Made, used and destroyed on the loop of `env`; the client must outlive it.
class TrainingWebhook {
 public:
  TrainingWebhook(rt::Env& env, client::Client& client, TrainingWebhookOptions options);
  ~TrainingWebhook();
  TrainingWebhook(const TrainingWebhook&) = delete;
  TrainingWebhook& operator=(const TrainingWebhook&) = delete;

  // `ready` comes on the loop, once: when it answers and the configuration trusts it, or when the cluster has no such
  // configuration. A request that the API server refuses for now is tried again.
  void start(std::function<void()> ready);
  // Empty: it is.
  std::string why_not_ready() const;
  // Before its end, so that nobody who asks notices it (admission/server/server.h); `done` comes on the loop, after
  // twelve seconds at the latest.
  void drain(std::function<void()> done);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace volcano_main
