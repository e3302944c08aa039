// The name server that pods ask: names of services and pods from a table, everything else from the host's servers.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "node/machine/node_network.h"

namespace node {

// The answer to one query, or nothing when it must be asked elsewhere. Pure. Names below cluster.local that are
// not in the table do not exist.
std::string answer_query(std::string_view query, const NameTable& names, bool& elsewhere);

// A name that stands for one of elsewhere: the query for that one, or nothing. Pure.
std::string alias_query(std::string_view query, const NameTable& names);
// The answer to that query, as an answer to `query`; empty where it is malformed. Pure.
std::string alias_answer(std::string_view query, const NameTable& names, std::string_view answer);

class NameServer {
 public:
  virtual ~NameServer() = default;                                     // closes the socket and joins its thread
  virtual void set_names(std::shared_ptr<const NameTable> names) = 0;  // any thread
};

// UDP port 53 of `address`. `resolv_conf`: the text that names the host's servers.
base::Result<std::unique_ptr<NameServer>> start_name_server(const std::string& address, const std::string& resolv_conf);

}  // namespace node
