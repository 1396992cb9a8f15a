// What ibstat says of the ports of a host: how fast they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plumb::network {

struct IbPort {
    std::string adapter; // "mlx5_0"
    int port = 0;
    double bytes_per_s = 0; // that it carries in one direction, without the link's own coding
};

// Of the output of ibstat the slowest active InfiniBand port. Nothing: it has none, or this is no such output.
std::optional<IbPort> slowest_active_port(std::string_view text);

} // namespace plumb::network
