// Node ports on the machine's loopback. The kernel sends nothing from 127.0.0.1 on to pods, and must not: pods could
// reach the loopback then. So connections of TCP are taken here, and made anew to an address of the machine at which
// the kernel leads them to pods.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

namespace node {

class LoopbackPorts {
 public:
  // `through`: that address of the machine, IPv4.
  explicit LoopbackPorts(std::string through);
  ~LoopbackPorts();  // ends all connections
  LoopbackPorts(const LoopbackPorts&) = delete;
  LoopbackPorts& operator=(const LoopbackPorts&) = delete;

  // Listens on these ports of 127.0.0.1, and no others. A port that another program has is left to it. Quick.
  void set(std::set<std::uint16_t> ports);

 private:
  class Relay;
  std::unique_ptr<Relay> relay_;
};

}  // namespace node
