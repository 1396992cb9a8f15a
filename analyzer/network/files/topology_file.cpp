#include "network/files/topology_file.h"

#include "network/files/described_topology.h"
#include "network/files/ib_fabric.h"
#include "network/files/slurm_topology.h"
#include "support/error.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

namespace plumb::network {

namespace {

constexpr std::streamoff kMostBytes = std::streamoff{256} << 20; // of ibnetdiscover's: about 100,000 nodes

} // namespace

TopologyFile parse_topology(const std::string& text, const std::string& name) {
    try {
        if (const size_t begin = text.find_first_not_of(" \t\r\n"); begin != std::string::npos && text[begin] == '{')
            return described_topology(text);
        if (is_ib_fabric(text))
            return ib_fabric(text);
        if (is_slurm_topology(text))
            return slurm_topology(text);
    } catch (const Error& error) {
        throw Error(fmt::format("{}: {}", name, error.what()));
    }
    throw Error(fmt::format("{}: this describes no network that plumb can read. It reads Slurm's topology.conf, the output of scontrol show "
                            "topology and of ibnetdiscover, and its own plumb-topology/1 (plumb topo --help shows one)", name));
}

TopologyFile read_topology(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw Error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    if (file.seekg(0, std::ios::end).tellg() > kMostBytes)
        throw Error(fmt::format("{}: larger than any description of a network, {} MiB at most", path, kMostBytes >> 20));
    file.seekg(0);
    std::ostringstream text;
    text << file.rdbuf();
    return parse_topology(text.str(), path);
}

} // namespace plumb::network
