// Which UNIX domain socket is connected to which: the kernel's socket diagnosis (sock_diag(7)) knows, /proc does not.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace plumb::record {

// By inode, both ways, of the network namespace of this process. Empty: there are none, or the kernel does not answer.
std::unordered_map<uint64_t, uint64_t> unix_socket_peers();

} // namespace plumb::record
