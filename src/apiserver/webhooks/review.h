// AdmissionReviews (admission.k8s.io/v1 and v1beta1): the question as text, and what the answer says. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/admission.h"
#include "api/policies/webhook.h"

namespace apiserver {

// The facts of a review beside the request itself.
struct ReviewFacts {
  std::string uid;  // of the user
  std::vector<std::pair<std::string, std::string>> extra;
  api::Json options;          // CreateOptions and so on; null: none
  api::ResourceId kind;       // group, version and, as `plural`, the kind of what the webhook is sent
  api::ResourceId asked;      // the same of what the request named
  std::string asked_version;  // of the resource that the request named
};

// The members of the review's `request` behind its uid: `"kind":{...},...}`. Equal texts are equal questions.
// `request.resource.version` is the one that the webhook is sent.
std::string review_tail(const api::AdmissionRequest& request, const ReviewFacts& facts);
// The whole review.
std::string review_text(const std::string& version, const std::string& uid, const std::string& tail);

// A webhook's verdict.
struct Verdict {
  std::string failure;  // why it was not asked, or said nothing of use: "failed to call webhook: ..."; empty: it did
  bool allowed = false;
  api::Json status;                                                         // of a refusal; an object
  std::optional<api::Json> patch = {};                                      // operations; not of an empty list
  std::vector<std::string> warnings = {};                                   // bounded
  std::vector<std::pair<std::string, std::string>> audit_annotations = {};  // audit annotations, bounded
};

// Reads the answer to the review of that uid.
Verdict read_verdict(const api::policies::Webhook& webhook, const std::string& uid, std::string_view answer);

// The Status of a refusal, as the client gets it; its code is 400 to 599.
api::Json refusal_status(const api::policies::Webhook& webhook, const api::Json& given);

}  // namespace apiserver
