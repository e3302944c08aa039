// How the tools print: fixed columns, spans of time, and the calls every noun makes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/command.h"

namespace cli {

struct Cell {
  std::string text;
  std::size_t width;
};
// Left-aligned, padded to their widths, nothing cut, then a line end.
std::string table_line(const std::vector<Cell>& cells);

// The long form of cli.md 1.4.
std::string long_span(base::Duration span);

// Whether a table is for people: at a terminal, where COLUMNS is set, and with `-o table`. Scripts get Volcano's
// columns.
bool is_for_people(const World& world, const Values& values);

// "3s", "12m", "5h", "3d" since that time of an object; "-" where it is not known.
std::string age_of(const World& world, const api::Json& object);

// The --master and --kubeconfig flags of every leaf.
std::vector<Flag> with_connection(std::vector<Flag> flags);
base::Result<std::unique_ptr<Api>> connect(World& world, const Values& values);

// Asks for one object, or writes or deletes it. kBadRequest if its name can be that of none.
base::Result<api::Json> call_one(Api& server, client::Request request);
base::Result<api::Json> get(Api& server, const api::ResourceId& resource, const std::string& ns,
                            const std::string& name);
base::Result<std::vector<api::Json>> list(Api& server, const api::ResourceId& resource, const std::string& ns,
                                          const std::string& label_selector = {});
// All pages, up to a bound. An answer that is not a list, and a server that never comes to its end, are errors. A
// person who may not see a kind in all namespaces gets those of the namespaces where that is allowed.
base::Result<std::vector<api::Json>> list(Api& server, client::Request request);
// Orders `action` for `target` (with apiVersion and kind) by a bus Command.
base::Status send_command(Api& server, const api::Json& target, const std::string& ns, std::string_view action);

base::Error usage_error(std::string message);

}  // namespace cli
