// The keys of a one-machine cluster: a CA of its own, a server certificate, and the administrator's certificate and
// token. They lie in the data folder; what is missing as a whole is made (the CA only where nobody has a certificate of
// it yet, or by wish), what is near its end is renewed for the same key, and what does not fit together is an error.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/pipeline/rights/account_tokens.h"
#include "base/result.h"
#include "base/time.h"
#include "rt/clock_steps.h"
#include "rt/env.h"
#include "rt/loop/loop.h"
#include "rt/storage/kv.h"
#include "rt/tls/tls.h"

namespace volcano_main {

struct Credentials {
  std::string ca_pem;
  rt::KeyPair server;
  rt::KeyPair admin;
  std::string token;
};

// By which the server is reached, beside localhost.
struct ServerNames {
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
};

// When the keys are looked at, which says what may be made of them.
enum class Occasion : std::uint8_t {
  kFirstStart,  // nothing is stored yet: whatever is missing is made
  kStart,       // there are objects, and so users: their CA must be there, and what else is made anew is said
  kNewKeys,     // as kStart, but whoever runs this wants a new CA where there is none
  kRunning,     // the CA must be there and stays as it is: copies of kubeconfigs know it by its certificate
};
// The occasion of a start. The wish is a file in the data folder, so that it is about one start and not about all that
// follow.
base::Result<Occasion> occasion_of_start(const rt::KvStore& objects, const std::string& data);
base::Status request_for_new_keys(const std::string& data);
base::Status forget_request_for_new_keys(const std::string& data);

// `folder`: DATA/keys.
base::Result<Credentials> load_or_make_credentials(const std::string& folder, base::Time now, const ServerNames& names,
                                                   Occasion occasion);
// A certificate that the CA in use has signed (its own, say), and whose it is, in words.
struct Witness {
  std::string whose;
  std::string certificate_pem;
};
// The authority alone, to sign with; kNotFound: the folder has none. An error if it has not signed a witness: then it
// was exchanged under a server that goes on with the old one, and would refuse what the new one signs.
base::Result<rt::KeyPair> load_authority(const std::string& folder, const std::vector<Witness>& witnesses);

// The key that signs tokens of service accounts; made where the folder has none.
base::Result<std::shared_ptr<const apiserver::AccountTokens>> load_or_make_account_tokens(const std::string& folder,
                                                                                          Occasion occasion);

// A kubeconfig with the keys inside.
struct KubeconfigFacts {
  std::string user;
  rt::KeyPair keys;
  std::string ca_pem;
  std::string server;   // "https://127.0.0.1:6443"
  std::string ns = {};  // of the context; empty: default
};
std::string kubeconfig_text(const KubeconfigFacts& facts);
// The administrator's.
std::string kubeconfig_text(const Credentials& credentials, const std::string& server_url);
// Refuses to let a kubeconfig of other clusters be written over: nobody would have their keys again.
base::Status check_replaceable(const std::string& present, const std::string& path);

// Calls `renew` each day, and when the clock was set or the machine has slept; logs its failures. Lives and is
// destroyed on the loop of `env`.
class KeyRenewal {
 public:
  KeyRenewal(rt::Env& env, std::function<base::Status()> renew);
  ~KeyRenewal() { env_.loop().cancel(timer_); }
  KeyRenewal(const KeyRenewal&) = delete;
  KeyRenewal& operator=(const KeyRenewal&) = delete;

 private:
  void try_it();
  void tomorrow();

  rt::Env& env_;
  std::function<base::Status()> renew_;
  rt::Loop::TimerId timer_ = 0;
  rt::ClockSteps steps_;
};

}  // namespace volcano_main
