// Crashes and starts.
#include "sim/world/processes.h"

#include "base/format.h"
#include "client/client.h"

namespace sim {

void Processes::add(const PartKind& kind) {
  const std::string name(kind.name);
  processes_[name].kind = &kind;
  start_order_.push_back(name);
}

std::vector<std::string> Processes::names() const {
  std::vector<std::string> names = {"apiserver"};
  names.insert(names.end(), start_order_.begin(), start_order_.end());
  return names;
}

bool Processes::is_up(const std::string& name) const {
  if (name == "apiserver") return at_.server.is_up();
  const auto found = processes_.find(name);
  return found != processes_.end() && found->second.component != nullptr;
}

void Processes::crash(const std::string& name) {
  if (!is_up(name)) return;
  at_.chronicle.record(base::format("crash {}", name));
  if (name == "apiserver") return at_.server.crash();
  Process& process = processes_.at(name);
  process.component.reset();
  process.client.reset();
  process.env.reset();
}

void Processes::start(const std::string& name) {
  if (is_up(name)) return;
  at_.chronicle.record(base::format("start {}", name));
  if (name == "apiserver") return at_.server.start();
  Process& process = processes_.at(name);
  const std::string label = base::format("{} {}", name, ++process.incarnation);
  process.env = std::make_unique<SimEnv>(at_.clock, seed_for(at_.seed, label), &at_.outside);
  process.client = make_network_client(at_.network, *process.env, std::string(process.kind->client),
                                       seed_for(at_.seed, base::format("client of {}", label)));
  process.component = process.kind->start({*process.env, *process.client, machines_, at_.settings, at_.decisions});
}

}  // namespace sim
