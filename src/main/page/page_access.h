// The web page of a program, and the notebooks behind it, as its servers see them.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/http/access.h"
#include "apiserver/http/server.h"
#include "main/page/notebook_origins.h"
#include "rt/env.h"
#include "ui/notebooks/notebook_gate.h"
#include "ui/page_server.h"

namespace volcano_main {

struct PageHostOptions {
  std::string secret;              // known to this installation only, and the same after a restart
  std::vector<std::string> hosts;  // names of this machine
  bool tls = true;
  OriginOptions notebooks;
};

class PageHost {
 public:
  // `env` outlives it.
  PageHost(PageHostOptions options, rt::Env& env);

  const std::shared_ptr<ui::PageServer>& page() const { return page_; }
  const std::shared_ptr<ui::NotebookGate>& notebooks() const { return gate_; }
  std::shared_ptr<const apiserver::BrowserAccess> access() const;
  // From now on requests of notebooks go this way, and links lead to this port. Any thread.
  void begin(ui::SendAs send, std::uint16_t port);
  // The same as a stop of all origins; nothing is sent after it. Loop thread, both.
  void end();
  base::Status set_keys(const rt::ServerKeys& keys) { return origins_.set_keys(keys); }
  // For who started the program: where the page is, with a link where a terminal shows it.
  std::string hint(const std::string& url) const;

 private:
  struct Way {
    ui::SendAs send;
    std::uint16_t port = 0;
  };

  NotebookOrigins origins_;
  // Requests come on many threads; null before begin().
  std::shared_ptr<std::atomic<std::shared_ptr<const Way>>> way_ =
      std::make_shared<std::atomic<std::shared_ptr<const Way>>>();
  std::shared_ptr<ui::PageServer> page_;
  std::shared_ptr<ui::NotebookGate> gate_;
};

// The API server of this process, which outlives what is sent.
ui::SendAs send_by(apiserver::Server& server);

}  // namespace volcano_main
