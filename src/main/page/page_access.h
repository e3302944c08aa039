// The web page of `volcano up`: its sessions as the API server sees them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/http/access.h"
#include "rt/env.h"
#include "ui/page_server.h"

namespace volcano_main {

// `secret`: known to this installation only, and the same after a restart. `hosts`: names of this machine. `env`
// outlives the page.
std::shared_ptr<ui::PageServer> make_page(std::string secret, std::vector<std::string> hosts, bool tls, rt::Env& env);
std::shared_ptr<const apiserver::BrowserAccess> page_access(std::shared_ptr<ui::PageServer> page);

}  // namespace volcano_main
