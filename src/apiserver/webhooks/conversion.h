// ConversionReviews (apiextensions.k8s.io/v1 and v1beta1): objects of a stranger's kind from one version to another by
// the definition's webhook. Pure functions, and the one who calls.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/custom/definition.h"
#include "apiserver/webhooks/caller.h"

namespace apiserver {

// The webhook that converts the objects of a definition. Immutable; any thread.
struct ConversionHook {
  api::policies::WebhookAddress address;
  std::string review_version;  // "v1" or "v1beta1"
  DefinitionPtr definition;    // holds its kinds
};
using ConversionHookPtr = std::shared_ptr<const ConversionHook>;

// Null: there is none that could be called.
ConversionHookPtr conversion_hook(const DefinitionPtr& definition);

std::string conversion_text(const ConversionHook& hook, const CustomKind& to, const std::string& uid,
                            const std::vector<api::Json>& objects);
// The objects as the answer has them, checked as a stock server does: the same objects in the same order, in the
// version that was asked for; of metadata only labels and annotations are the webhook's.
base::Result<std::vector<api::Json>> read_conversion(const ConversionHook& hook, const CustomKind& to,
                                                     const std::string& uid, const std::vector<api::Json>& objects,
                                                     std::string_view answer);

// Loop thread only.
class Converter {
 public:
  using Done = std::function<void(base::Result<std::vector<api::Json>>)>;

  // `caller` may be null: nobody is called, which is an error of each conversion. All outlive the loop's tasks.
  Converter(rt::Env& env, const api::ObjectReader& objects, WebhookCaller* caller)
      : env_(env), objects_(objects), caller_(caller) {}

  // All of them in their order, batch after batch; `done` comes in a later turn of the loop; those that have the
  // version already stay as they are. `done` keeps `to`, which may be of an older definition than the hook's.
  void convert(ConversionHookPtr hook, const CustomKind& to, std::vector<api::Json> objects, Done done);

 private:
  struct Run;
  void next(const std::shared_ptr<Run>& run);

  rt::Env& env_;
  const api::ObjectReader& objects_;
  WebhookCaller* caller_;
};

}  // namespace apiserver
