// The world of one invocation: an API server, and the person at the terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/text/terminal.h"
#include "client/client.h"
#include "client/http/log_reader.h"

namespace cli {

// An event of one of an Api's streams.
struct Happening {
  enum class Kind : std::uint8_t {
    kNothing,  // the time was over
    kObject,   // a new state of a followed object
    kGone,     // its last state
    kCurrent,  // all objects that are there have been told
    kText,     // bytes of a log, in any split
    kEnd,      // nothing follows on this stream
  };
  Kind kind = Kind::kNothing;
  int stream = 0;         // whose
  api::Json object = {};  // of kObject and kGone
  std::string text = {};  // of kText
  base::Status end = {};  // of kEnd
};

// Which objects are followed.
struct Selection {
  api::ResourceId resource;
  std::string ns = {};  // empty: all namespaces, or cluster scope
  std::string label_selector = {};
  std::string field_selector = {};
};

// An API server that answers while the caller waits. Events that come by themselves are fetched with next(), in their
// order.
class Api {
 public:
  virtual ~Api() = default;
  virtual base::Result<api::Json> call(client::Request request) = 0;
  // Numbers of new streams.
  virtual int follow(Selection selection) = 0;
  virtual int read_log(client::LogRequest request) = 0;
  virtual void stop(int stream) = 0;
  // Waits for the next event of any stream, `patience` at most.
  virtual Happening next(base::Duration patience) = 0;
  // The namespace of the context; empty: none is named.
  virtual std::string own_namespace() const { return {}; }
};

// The account of this machine that runs the command.
struct Person {
  std::string user;
  std::string home;
  std::string folder;   // where the command was typed, without links
  std::string boot_id;  // of this machine; empty: not known
  std::int64_t uid = 0;
  std::int64_t gid = 0;
  std::vector<std::int64_t> groups = {};
};

// The answer to a GET of the REST API of pipelines.
using PipelineReader = std::function<base::Result<api::Json>(const std::string& target)>;

// Main fills it in, tests fake it.
struct World {
  // From --kubeconfig and --master, either of which may be empty.
  std::function<base::Result<std::unique_ptr<Api>>(const std::string& kubeconfig, const std::string& master)> connect;
  // A link to a path of the server's page, good once.
  std::function<base::Result<std::string>(const std::string& kubeconfig, const std::string& master,
                                          const std::string& path)>
      page_link = {};
  // Serves the REST API of pipelines on this port of the loopback, until the program is ended.
  std::function<base::Status(const std::string& kubeconfig, const std::string& master, const std::string& ns,
                             std::uint16_t port)>
      serve_pipelines = {};
  std::function<base::Result<std::string>(const std::string& path)> read_file;
  // A file, and the folders that it is in.
  std::function<base::Status(const std::string& path, const std::string& bytes)> write_file = {};
  // The REST API of pipelines with the person's rights: the server's own, or that of this program where the server has
  // none, as on a cluster.
  std::function<base::Result<PipelineReader>(const std::string& kubeconfig, const std::string& master,
                                             const std::string& ns)>
      open_pipelines = {};
  std::function<base::Result<std::string>(const std::string& url)> fetch;    // GET over plain HTTP
  std::function<std::string(const std::string& name)> environment_variable;  // empty: not set
  // The namespace of the kubeconfig's context, or of the pod; empty: none is named. Unset: the same.
  std::function<std::string(const std::string& kubeconfig)> context_namespace = {};
  std::function<Person()> person = {};
  // The folder without links in its path, if the person may list it and enter it, and, where asked, write into it.
  std::function<base::Result<std::string>(const std::string& path, bool writes)> own_folder = {};
  std::function<std::string(base::Time)> local_time;  // "2026-08-20 10:07:21 +0800 CST"
  std::function<base::Time()> now;
  // Hands out and err to the person and empties them; false if nobody reads any more.
  std::function<bool(World&)> show;
  Terminal terminal;
  std::string version;    // of this build; empty: not known
  std::string out;        // standard output
  std::string err;        // standard error
  bool as_it_is = false;  // `out` has control characters that are meant: a program's log, a page that is drawn anew
  int exit_status = 0;    // of work that did not fail
};

}  // namespace cli
