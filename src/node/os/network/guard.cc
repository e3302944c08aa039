// The table, and its elements as pods come and go.
#include "node/os/network/guard.h"

#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "node/os/command.h"

namespace node {

namespace {

base::Status run_nft(const std::string& text) { return must_run({"nft", "-f", "-"}, {.input = text}); }

// A frame with an address of the link that is not the sender's would teach the bridge a wrong place, and an ARP message
// the neighbours. A table keeps the elements that it has already, so that pods that run go on.
std::string table_text(const std::string& table) {
  return base::format(
      "table bridge {0} {{\n"
      "set ports {{\n type ifname\n}}\n"
      "set pods {{\n typeof iifname . ether saddr . ip saddr\n}}\n"
      "chain coming {{\ntype filter hook prerouting priority -300; policy accept;\n}}\n"
      "}}\n"
      "flush chain bridge {0} coming\n"
      "add rule bridge {0} coming iifname != @ports accept\n"
      "add rule bridge {0} coming ether type ip iifname . ether saddr . ip saddr @pods accept\n"
      "add rule bridge {0} coming ether type arp iifname . ether saddr . arp saddr ip @pods "
      "iifname . arp saddr ether . arp saddr ip @pods accept\n"
      "add rule bridge {0} coming drop\n",
      table);
}

std::string element_text(const char* verb, const std::string& table, const std::string& interface,
                         const std::string& hardware, const std::string& ip) {
  return base::format(
      "{0} element bridge {1} ports {{ \"{2}\" }}\n{0} element bridge {1} pods {{ \"{2}\" . {3} . {4} }}\n", verb,
      table, interface, hardware, ip);
}

}  // namespace

void NetworkGuard::open(const std::string& bridge) {
  const std::lock_guard lock(mutex_);
  if (!table_.empty()) return;
  const base::Status made = find_program("nft").empty()
                                ? base::make_error(base::Code::kUnavailable, "the program nft is missing")
                                : run_nft(table_text(bridge));
  if (made.ok())
    table_ = bridge;
  else
    base::log_warning("node",
                      base::format("pods can speak with the addresses of other pods: {}", made.error().message));
}

void NetworkGuard::let(const std::string& interface, const std::string& hardware, const std::string& ip) {
  const std::lock_guard lock(mutex_);
  if (table_.empty()) return;
  std::string text;
  for (const std::string& words : std::exchange(gone_, {})) text += words;
  text += element_text("add", table_, interface, hardware, ip);
  if (const base::Status added = run_nft(text); !added.ok())
    base::log_warning("node", base::format("interface {} may send anything: {}", interface, added.error().message));
}

void NetworkGuard::forget(const std::string& interface, const std::string& hardware, const std::string& ip) {
  const std::lock_guard lock(mutex_);
  if (table_.empty()) return;
  // Added first, so that elements that are not there are no error.
  gone_.push_back(element_text("add", table_, interface, hardware, ip) +
                  element_text("delete", table_, interface, hardware, ip));
}

void NetworkGuard::close() {
  const std::lock_guard lock(mutex_);
  if (table_.empty()) return;
  (void)run_nft(base::format("table bridge {0}\ndelete table bridge {0}\n", table_));
  table_.clear();
}

std::string policy_table_of(const std::string& bridge) { return bridge + "_policies"; }

void remove_tables_of(const std::string& bridge) {
  if (find_program("nft").empty()) return;
  // Named first, so that one that is not there is no error. A kernel without one family still has the other.
  for (const std::string& table : {"ip " + bridge, "ip " + policy_table_of(bridge), "bridge " + bridge})
    (void)run_nft(base::format("table {0}\ndelete table {0}\n", table));
}

}  // namespace node
