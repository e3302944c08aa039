// CertificateSigningRequests: who asked is written down by the server, approval and status are written apart, and what
// is asked for stays.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "api/kinds.h"
#include "api/schema/field_errors.h"
#include "base/result.h"

namespace apiserver {

bool is_signing_request(const api::KindInfo& kind);
// The author of a certificate request, as the server knows him.
struct Requestor {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::vector<std::pair<std::string, std::string>> extra;  // a key may have several values
};
// Fills in a new one: who asks, in the server's words; nothing is approved yet.
void fill_signing_request(const Requestor& user, api::Json& object);
// `subresource` is "", "status" or "approval": what else it may change is put back.
void separate_approval(std::string_view subresource, const api::Json& old_object, api::Json& object);
// `old_object` is null for a new one.
void check_signing_request(const api::Json& old_object, const api::Json& object, api::FieldErrors& errors);
// The subject that a new one may not have, whoever approves: what the requested subject may not say, whoever approves.
std::optional<std::string> refused_subject(const api::Json& object);
// The signer whose rules an approval, or a certificate, is given by; empty: the write gives neither.
// `verb` is what the writer needs of it: "approve" or "sign".
struct SignerAction {
  std::string verb;
  std::string signer;
};
std::optional<SignerAction> signer_action(std::string_view subresource, const api::Json& old_object,
                                          const api::Json& object);

}  // namespace apiserver
