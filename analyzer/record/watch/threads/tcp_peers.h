// Which TCP socket is connected to which on this machine: two sockets of one network namespace with each other's addresses, as
// the kernel's socket diagnosis (sock_diag(7)) tells them.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace plumb::record {

// By inode, both ways, of the network namespace of this process. Empty: there are none, or the kernel does not answer.
std::unordered_map<uint64_t, uint64_t> tcp_socket_peers();

} // namespace plumb::record
