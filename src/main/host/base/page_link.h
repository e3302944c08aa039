// A link to the page of an API server that serves one, good once.
#pragma once

#include <string>

#include "base/result.h"
#include "client/http/kubeconfig.h"

namespace volcano_main {

struct PageLink {
  std::string url;
  std::string user;  // as whom the page will act
};

// `as_user`: somebody else, whom the asker may impersonate; empty: the asker. `to`: the path that it leads to; empty:
// the page.
base::Result<PageLink> page_link(const client::ServerAccess& access, const std::string& as_user, const std::string& to);

}  // namespace volcano_main
