// The ports of notebooks: one for each namespace, opened when its first notebook is, and never given to another one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "rt/http/server/http_server.h"
#include "ui/notebooks/notebook_gate.h"

namespace volcano_main {

struct PortRange {
  std::uint16_t first = 0, last = 0;  // 0: a free one each
};

struct OriginOptions {
  std::string address = "127.0.0.1";
  PortRange ports;
  std::string file = {};                    // in which namespaces keep their ports; empty: they do not
  std::optional<rt::ServerKeys> keys = {};  // unset: plain HTTP
};

// Loop thread.
class NotebookOrigins {
 public:
  explicit NotebookOrigins(OriginOptions options);

  // Requests are answered by `gate`, which outlives this.
  base::Result<std::uint16_t> port_of(const std::string& ns, const std::shared_ptr<ui::NotebookGate>& gate);
  base::Status set_keys(const rt::ServerKeys& keys);
  // Closes all of them.
  void close() { open_.clear(); }

 private:
  base::Status listen(const std::string& ns, std::uint16_t port, const std::shared_ptr<ui::NotebookGate>& gate);
  base::Status keep() const;

  OriginOptions options_;
  std::map<std::uint16_t, std::string> owners_;  // of ports that were given out; empty: nobody has it any more
  std::map<std::string, std::unique_ptr<rt::HttpServer>> open_;
};

}  // namespace volcano_main
