// Bytes that a connection has taken and its network has not carried yet, once the process ends.
#pragma once

namespace rt {

// A socket that is closed in good order leaves it to the kernel to send what waits there, for minutes if the network
// does not carry it, also after the process has ended. From here on all connections that this process has now are reset
// instead: what waits is thrown away.
void reset_connections_at_close();

}  // namespace rt
