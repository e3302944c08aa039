// The audit log as flags ask for it.
#pragma once

#include <memory>
#include <string>

#include "apiserver/http/auditing.h"
#include "base/result.h"
#include "rt/env.h"

namespace volcano_main {

struct AuditLog {
  std::shared_ptr<rt::LineLog> lines;                   // null: there is none
  std::shared_ptr<const apiserver::Auditing> auditing;  // null with it
};

// `path` empty: none. With `strict` this process is told to end (SIGTERM) when a line cannot be written.
base::Result<AuditLog> open_audit_log(rt::Env& env, const std::string& path, const std::string& policy_file,
                                      bool strict);

}  // namespace volcano_main
