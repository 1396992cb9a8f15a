#include "target.h"

#include "network/files/host_list.h"
#include "network/files/ib_port.h"
#include "network/files/topology_file.h"
#include "support/error.h"

#include <algorithm>

namespace plumb::fuzz {

namespace {

// Distances are those of a network: none from a node to itself, and none without a link between two that hang together.
void walk(const network::Network& network) {
    constexpr network::NodeIndex kMostNodes = 64;
    const auto routes = network.routes();
    const network::NodeIndex nodes = std::min<network::NodeIndex>(network.node_count(), kMostNodes);
    for (network::NodeIndex target = 0; target < nodes; ++target) {
        require(!network.node_name(target).empty());
        routes->aim_at(target);
        require(routes->hops_from(target) == 0);
        for (network::NodeIndex from = 0; from < nodes; ++from)
            require(routes->hops_from(from) <= 2 * network.link_count());
    }
}

} // namespace

void run_network_files(Bytes input) {
    const std::string text(as_text(input));
    if (const auto port = network::slowest_active_port(text))
        require(port->bytes_per_s > 0);
    try {
        for (const std::string& name : network::expand_host_list(text))
            require(!name.empty());
    } catch (const Error&) {
    }
    try {
        const network::TopologyFile file = network::parse_topology(text, "n");
        require(file.link_bytes_per_s >= 0 && file.hop_s >= 0);
        walk(*file.network);
    } catch (const Error&) {
    }
}

Seeds seeds_of_network_files() {
    return {
        {"torus", R"({"schema":"plumb-topology/1","torus":{"dimensions":[{"name":"x","size":3,"wiring":[0,2,1]},{"name":"y","size":4},)"
                  R"({"name":"z","size":2,"wraps":false}],"names":"c{x}-{y}n{z:02}"},"link_bytes_per_s":7.6e9,"hop_s":5e-8})"},
        {"named", R"({"schema":"plumb-topology/1","torus":{"dimensions":[{"size":2},{"size":2}],"nodes_per_router":2,)"
                  R"("nodes":[["a",0,0],["b",0,0],["c",1,1]]}})"},
        {"dragonfly", R"({"schema":"plumb-topology/1","dragonfly":{"groups":3,"rows":2,"columns":2,"nodes_per_router":2,)"
                      R"("global_cables":2,"names":"nid{index:05}"}})"},
        {"switches", R"({"schema":"plumb-topology/1","switches":[{"name":"leaf0","nodes":"n[000-003]","up":[{"to":"spine0","cables":4}]},)"
                     R"({"name":"leaf1","nodes":"n[004-007],m","up":[{"to":"spine0"}]},{"name":"spine0"}]})"},
        {"slurm", "# two racks\nSwitchName=s0 Nodes=tux[0-3] LinkSpeed=100\nswitchname=s1 nodes=tux[4-6],gpu0\nSwitchName=top \\\n"
                  "   Switches=s[0-1]\n"},
        {"shown", "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-3]\nSwitchName=s1 Level=0 LinkSpeed=1 Nodes=tux[4-7]\n"
                  "SwitchName=s2 Level=1 LinkSpeed=1 Nodes=tux[0-7] Switches=s[0-1]\n"},
        {"fabric", "switchguid=0x2(2)\nSwitch\t36 \"S-0002\"\t\t# \"leaf-a\" enhanced port 0 lid 1 lmc 0\n"
                   "[1]\t\"H-0001\"[1](1) \t\t# \"nid00012 HCA-1\" lid 5 4xEDR\n[2]\t\"S-0003\"[1]\t\t# \"spine\" lid 3 4xEDR\n\n"
                   "switchguid=0x3(3)\nSwitch\t36 \"S-0003\"\t\t# \"spine\" base port 0 lid 3 lmc 0\n"
                   "[1]\t\"S-0002\"[2]\t\t# \"leaf-a\" lid 1 4xEDR\n\ncaguid=0x1\nCa\t1 \"H-0001\"\t\t# \"nid00012 HCA-1\"\n"
                   "[1](1) \t\"S-0002\"[1]\t\t# lid 5 lmc 0 \"leaf-a\" lid 1 4xEDR\n"},
        {"hosts", "nid[00012-00015,00020],login1,r[0-1]n[08-11]"},
        {"ibstat", "CA 'mlx5_0'\n\tPort 1:\n\t\tState: Active\n\t\tRate: 40 (FDR10)\n\t\tLink layer: InfiniBand\n"},
    };
}

} // namespace plumb::fuzz
