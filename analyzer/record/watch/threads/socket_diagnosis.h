// Asks the kernel's socket diagnosis (sock_diag(7)), which works without privileges for sockets of this network namespace.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

struct nlmsghdr;

namespace plumb::record {

// Sends one dump request, whose nlmsghdr comes first, and hands out each answer. Nothing where the kernel does not answer.
void ask_about_sockets(std::span<const std::byte> request, const std::function<void(const nlmsghdr&)>& take);

} // namespace plumb::record
