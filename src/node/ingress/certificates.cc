// tls.crt and tls.key, checked before TLS sees them.
#include "node/ingress/certificates.h"

#include <map>
#include <utility>

#include "base/base64.h"
#include "base/format.h"
#include "rt/tls/tls.h"

namespace node::ingress {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::size_t kNamesMax = 4096;  // each has a context of TLS, some 20 KiB

base::Result<rt::KeyPair> keys_of(const Json* secret) {
  if (secret == nullptr) return make_error(Code::kNotFound, "it is not there");
  rt::KeyPair pair;
  for (const auto& [key, text] : {std::pair{"tls.crt", &pair.certificate_pem}, {"tls.key", &pair.key_pem}}) {
    const auto bytes = base::base64_decode((*secret)["data"][key].as_string());
    if (!bytes.ok() || bytes->empty()) return make_error(Code::kInvalid, base::format("it has no data {:?}", key));
    *text = *bytes;
  }
  TRY_VOID(rt::check_pair(pair));
  return pair;
}

}  // namespace

Certificates certificates_of(const std::vector<TlsUse>& uses,
                             const std::function<const Json*(const TlsUse& use)>& secret_of) {
  Certificates out;
  std::map<std::pair<std::string, std::string>, base::Result<rt::KeyPair>> known;
  for (const TlsUse& use : uses) {
    auto found = known.find({use.ns, use.secret});
    const bool loaded = found != known.end();
    if (!loaded) found = known.emplace(std::pair(use.ns, use.secret), keys_of(secret_of(use))).first;
    if (!found->second.ok()) {
      if (!loaded)
        out.wrong.push_back({use.ingress, base::format("spec.tls: the Secret {:?} is not used: {}", use.secret,
                                                       found->second.error().message)});
    } else if (out.named.size() >= kNamesMax) {
      out.wrong.push_back({use.ingress, base::format("spec.tls: {:?} has no certificate, as {} other names have one",
                                                     use.host, kNamesMax)});
    } else {
      out.named.push_back({use.host, found->second->certificate_pem, found->second->key_pem});
    }
  }
  return out;
}

}  // namespace node::ingress
