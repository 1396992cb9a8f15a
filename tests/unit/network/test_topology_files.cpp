#include "network/files/described_topology.h"
#include "network/files/host_list.h"
#include "network/files/ib_port.h"
#include "network/files/launch_order.h"
#include "network/files/topology_file.h"
#include "support/error.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace plumb;
using namespace plumb::network;
using Catch::Contains;

namespace {

uint32_t hops(const Network& network, const std::string& from, const std::string& to) {
    const auto routes = network.routes();
    routes->aim_at(network.node_named(to).value());
    return routes->hops_from(network.node_named(from).value());
}

constexpr const char* kSlurm = R"(# two racks
SwitchName=s0 Nodes=tux[0-3] LinkSpeed=100
switchname=s1 nodes=tux[4-6],gpu0
SwitchName=top \
   Switches=s[0-1]
)";

constexpr const char* kShown = R"(SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-3]
SwitchName=s1 Level=0 LinkSpeed=1 Nodes=tux[4-7]
SwitchName=s2 Level=1 LinkSpeed=1 Nodes=tux[0-7] Switches=s[0-1]
)";

// As ibnetdiscover prints it: two leaves, two cables from each to one spine, one to the other.
constexpr const char* kFabric = R"(#
# Topology file: generated on Thu Nov 26 09:00:00 2026
#
vendid=0x2c9
devid=0xbd36
sysimgguid=0x2c902004a0920
switchguid=0x2c902004a0920(2c902004a0920)
Switch	36 "S-0002c902004a0920"		# "leaf-a" enhanced port 0 lid 1 lmc 0
[1]	"H-0002c90300a1b2c0"[1](2c90300a1b2c1) 		# "nid00012 HCA-1" lid 5 4xEDR
[2]	"H-0002c90300a1b2d0"[1](2c90300a1b2d1) 		# "nid00013 HCA-1" lid 6 4xEDR
[33]	"S-0002c902004a0940"[1]		# "spine-a" lid 3 4xEDR
[34]	"S-0002c902004a0940"[2]		# "spine-a" lid 3 4xEDR
[35]	"S-0002c902004a0960"[1]		# "spine-b" lid 4 4xEDR

switchguid=0x2c902004a0930(2c902004a0930)
Switch	36 "S-0002c902004a0930"		# "leaf-b" enhanced port 0 lid 2 lmc 0
[1]	"H-0002c90300a1b2e0"[1](2c90300a1b2e1) 		# "nid00014 mlx5_0" lid 7 4xHDR
[2]	"H-0002c90300a1b2f0"[1](2c90300a1b2f1) 		# "nid00014 mlx5_1" lid 8 4xHDR
[33]	"S-0002c902004a0940"[3]		# "spine-a" lid 3 4xEDR
[34]	"S-0002c902004a0940"[4]		# "spine-a" lid 3 4xEDR
[35]	"S-0002c902004a0960"[2]		# "spine-b" lid 4 4xEDR

switchguid=0x2c902004a0940(2c902004a0940)
Switch	36 "S-0002c902004a0940"		# "spine-a" enhanced port 0 lid 3 lmc 0
[1]	"S-0002c902004a0920"[33]		# "leaf-a" lid 1 4xEDR
[2]	"S-0002c902004a0920"[34]		# "leaf-a" lid 1 4xEDR
[3]	"S-0002c902004a0930"[33]		# "leaf-b" lid 2 4xEDR
[4]	"S-0002c902004a0930"[34]		# "leaf-b" lid 2 4xEDR

switchguid=0x2c902004a0960(2c902004a0960)
Switch	36 "S-0002c902004a0960"		# "spine-b" enhanced port 0 lid 4 lmc 0
[1]	"S-0002c902004a0920"[35]		# "leaf-a" lid 1 4xEDR
[2]	"S-0002c902004a0930"[35]		# "leaf-b" lid 2 4xEDR

vendid=0x2c9
caguid=0x2c90300a1b2c0
Ca	1 "H-0002c90300a1b2c0"		# "nid00012 HCA-1"
[1](2c90300a1b2c1) 	"S-0002c902004a0920"[1]		# lid 5 lmc 0 "leaf-a" lid 1 4xEDR
)";

} // namespace

TEST_CASE("Slurm's topology.conf") {
    const TopologyFile file = parse_topology(kSlurm, "topology.conf");
    CHECK(file.network->description() == "tree of 8 nodes and 3 switches");
    CHECK(hops(*file.network, "tux0", "tux3") == 2);
    CHECK(hops(*file.network, "tux0", "gpu0") == 4);
    CHECK_THAT(file.notes.at(0), Contains("how many cables"));
}

TEST_CASE("scontrol show topology") {
    const TopologyFile file = parse_topology(kShown, "shown");
    CHECK(file.network->node_count() == 8);
    CHECK(hops(*file.network, "tux0", "tux7") == 4);
}

TEST_CASE("wrong Slurm files name the line") {
    CHECK_THROWS_WITH(parse_topology("SwitchName=s0 Nodes=a\nSwitchName=s0 Nodes=b\n", "t.conf"), Contains("t.conf: line 2: switch s0 is described twice"));
    CHECK_THROWS_WITH(parse_topology("SwitchName=s0 Switches=s1\n", "t.conf"), Contains("line 1: switch s0 has s1 below it"));
    CHECK_THROWS_WITH(parse_topology("SwitchName=s0 Nodes=a[0-\n", "t.conf"), Contains("a bracket is not closed"));
    CHECK_THROWS_WITH(parse_topology("BlockName=b Nodes=a[0-3]\n", "t.conf"), Contains("blocks"));
    CHECK_THROWS_WITH(parse_topology("SwitchName=s0 Nodes=a,b\nSwitchName=s1 Nodes=b,c\nSwitchName=s2 Switches=s0,s1\n", "t.conf"),
                      Contains("node b is at two switches, s0 and s1"));
    CHECK_THROWS_WITH(parse_topology("SwitchName=s0 Nodes=a\nSwitchName=s1 Nodes=b\n", "t.conf"), Contains("nothing joins s1 to s0"));
    CHECK_THROWS_WITH(parse_topology("hello\n", "t.conf"), Contains("t.conf: this describes no network that plumb can read"));
}

TEST_CASE("ibnetdiscover") {
    const TopologyFile file = parse_topology(kFabric, "fabric");
    CHECK(file.network->node_count() == 3);
    CHECK(hops(*file.network, "nid00012", "nid00013") == 2);
    CHECK(hops(*file.network, "nid00012", "nid00014") == 4);
    CHECK(file.link_bytes_per_s == Approx(12.5e9));
    CHECK_THAT(file.notes.at(0), Contains("1 further port"));
    uint32_t doubled = 0;
    for (LinkIndex link = 0; link < file.network->link_count(); ++link)
        doubled += file.network->cables(link) == 2;
    CHECK(doubled == 4); // two bundles, both directions
}

TEST_CASE("plumb's own descriptions: all of the help can be read") {
    const std::string all = kTopologyExamples;
    size_t read = 0;
    for (size_t at = all.find("{ \"schema\""); at != std::string::npos; at = all.find("{ \"schema\"", at + 1)) {
        int depth = 0;
        size_t end = at;
        do
            depth += all[end] == '{' ? 1 : all[end] == '}' ? -1 : 0;
        while (++end < all.size() && depth > 0);
        CHECK(parse_topology(all.substr(at, end - at), "help").network->node_count() > 0);
        ++read;
    }
    CHECK(read == 3);
    const TopologyFile torus = parse_topology(all.substr(0, all.find("instead")), "torus");
    CHECK(torus.network->node_count() == 11 * 12 * 16);
    CHECK(hops(*torus.network, "c0-0n00", "c1-0n00") == 1); // 1 closes the ring
    CHECK(hops(*torus.network, "c0-0n00", "c3-0n15") == 2 + 15);
    CHECK(torus.link_bytes_per_s == Approx(7.6e9));
}

TEST_CASE("wrong descriptions name what is wrong") {
    const auto refused = [](const std::string& rest) { return R"({"schema":"plumb-topology/1",)" + rest + "}"; };
    CHECK_THROWS_WITH(parse_topology("{", "t"), Contains("not JSON"));
    CHECK_THROWS_WITH(parse_topology("{}", "t"), Contains("plumb-topology/1"));
    CHECK_THROWS_WITH(parse_topology(refused(R"("torus":{})"), "t"), Contains("needs \"dimensions\""));
    CHECK_THROWS_WITH(parse_topology(refused(R"("torus":{"dimensions":[{"size":2}],"names":"n{q}"})"), "t"), Contains("{q}"));
    CHECK_THROWS_WITH(parse_topology(refused(R"("torus":{"dimensions":[{"size":2}],"names":"n"})"), "t"), Contains("two nodes are called n"));
    CHECK_THROWS_WITH(parse_topology(refused(R"("torus":{"dimensions":[{"size":2}],"nodes":[["a",5]]})"), "t"), Contains("node a lies outside"));
    CHECK_THROWS_WITH(parse_topology(refused(R"("torus":{"dimensions":[{"size":9999},{"size":9999}]})"), "t"), Contains("more than"));
    CHECK_THROWS_WITH(parse_topology(refused(R"("switches":[{"name":"a","nodes":"n","up":[{"to":"b","cables":0}]},{"name":"b"}])"), "t"),
                      Contains("by 0 cables"));
    CHECK_THROWS_WITH(parse_topology(refused(R"("dragonfly":{"groups":0})"), "t"), Contains("no nodes"));
}

TEST_CASE("places of Cray nodes in a dragonfly") {
    const std::string text = R"({"schema":"plumb-topology/1","dragonfly":{"groups":2,"rows":6,"columns":16,"cabinets_in_row":4,
        "nodes":[["nid0","c0-0c0s0n0"],["nid1","c0-0c0s0n1"],["nid2","c0-0c0s5n0"],["nid3","c1-0c2s5n0"],["nid4","c3-0c0s0n0"]]}})";
    const TopologyFile file = parse_topology(text, "xc");
    CHECK(hops(*file.network, "nid0", "nid1") == 0);
    CHECK(hops(*file.network, "nid0", "nid2") == 1);
    CHECK(hops(*file.network, "nid2", "nid3") == 1);
    CHECK(hops(*file.network, "nid0", "nid3") == 2);
    CHECK(hops(*file.network, "nid0", "nid4") >= 1);
    CHECK_THROWS_WITH(parse_topology(R"({"schema":"plumb-topology/1","dragonfly":{"groups":2,"rows":6,"columns":16,"cabinets_in_row":4,
        "nodes":[["nid0","x0c0"]]}})", "xc"), Contains("no place of a node"));
}

TEST_CASE("lists of nodes") {
    CHECK(expand_host_list("nid[00012-00014,00020],login1") ==
          std::vector<std::string>{"nid00012", "nid00013", "nid00014", "nid00020", "login1"});
    CHECK(expand_host_list("r[1-2]n[1-2]") == std::vector<std::string>{"r1n1", "r2n1", "r1n2", "r2n2"});
    CHECK(expand_host_list("a.example.org b") == std::vector<std::string>{"a.example.org", "b"});
    CHECK_THROWS_WITH(expand_host_list("a[3-1]"), Contains("runs backwards"));
    CHECK_THROWS_WITH(expand_host_list("a[1-99999999]"), Contains("too long"));
    CHECK_THROWS_WITH(expand_host_list("a]"), Contains("not opened"));
    CHECK_THROWS_WITH(expand_host_list("a[x]"), Contains("\"x\" is no number"));
    CHECK_THROWS_WITH(expand_host_list(" , "), Contains("it names none"));
}

TEST_CASE("orders for launchers") {
    const std::vector<std::string> hosts{"b", "a", "b", "a"};
    const std::vector<uint32_t> slots{1, 0, 3, 2};
    CHECK(launch_order(LaunchForm::rankfile, hosts, slots, "f").text == "rank 0=b slot=0\nrank 1=a slot=0\nrank 2=b slot=1\nrank 3=a slot=1\n");
    const std::vector<uint32_t> cpus{1, 8, 1, 8};
    CHECK(launch_order(LaunchForm::rankfile, hosts, slots, "f", cpus).text == "rank 0=b slot=0-0\nrank 1=a slot=0\nrank 2=b slot=0-0\nrank 3=a slot=1\n");
    CHECK_THAT(launch_order(LaunchForm::rankfile, hosts, slots, "f", cpus).usage, Contains("--rankfile f --mca mpi_yield_when_idle 1 PROGRAM"));
    CHECK_THAT(launch_order(LaunchForm::rankfile, hosts, slots, "f").usage, Contains("--rankfile f PROGRAM"));
    CHECK(launch_order(LaunchForm::mpich_rank_order, hosts, slots, "f").text == "1,0,3,2\n");
    CHECK(launch_order(LaunchForm::hostfile, {hosts.data(), 2}, slots, "f").text == "b:1\na:1\n");
    CHECK(launch_order(LaunchForm::slurm, hosts, slots, "f").text == "b\na\nb\na\n");
    CHECK_THAT(launch_order(LaunchForm::slurm, hosts, slots, "f").usage, Contains("SLURM_HOSTFILE=f srun -n 4 --distribution=arbitrary"));
}

TEST_CASE("ranks that share the cores of a cache leave them while they wait") {
    const std::vector<std::string> hosts{"a", "a", "b", "b"};
    const std::vector<std::vector<int>> alone{{0, 1}, {0, 1}, {0, 1}, {2, 3}}, shared{{0, 1, 8}, {0, 1, 8}, {5}, {5}};
    CHECK(rankfile_of_cores(hosts, shared, "f").text == "rank 0=a slot=0,1,8\nrank 1=a slot=0,1,8\nrank 2=b slot=5\nrank 3=b slot=5\n");
    CHECK_THAT(rankfile_of_cores(hosts, alone, "f").usage, Contains("--rankfile f PROGRAM"));
    CHECK_THAT(rankfile_of_cores(hosts, shared, "f").usage, Contains("--rankfile f --mca mpi_yield_when_idle 1 PROGRAM"));
}

TEST_CASE("ibstat: the slowest active InfiniBand port, without the coding of its signals") {
    const auto of = [](std::string_view text) { return slowest_active_port(text); };
    const std::string text = "CA 'mlx5_0'\n"
                             "\tCA type: MT4123\n"
                             "\tNumber of ports: 1\n"
                             "\tPort 1:\n"
                             "\t\tState: Active\n"
                             "\t\tPhysical state: LinkUp\n"
                             "\t\tRate: 200\n"
                             "\t\tBase lid: 12\n"
                             "\t\tLink layer: InfiniBand\n"
                             "CA 'mlx5_1'\n"
                             "\tPort 1:\n"
                             "\t\tState: Down\n"
                             "\t\tPhysical state: Disabled\n"
                             "\t\tRate: 10\n"
                             "\t\tLink layer: InfiniBand\n"
                             "CA 'mlx5_2'\n"
                             "\tPort 1:\n"
                             "\t\tState: Active\n"
                             "\t\tRate: 25\n"
                             "\t\tLink layer: Ethernet\n";
    REQUIRE(of(text));
    CHECK(of(text)->adapter == "mlx5_0");
    CHECK(of(text)->bytes_per_s == Approx(25e9));
    const auto rate = [&](const char* words) {
        return of(fmt::format("CA 'x'\n\tPort 2:\n\t\tState: Active\n\t\tRate: {}\n\t\tLink layer: InfiniBand\n", words))->bytes_per_s;
    };
    CHECK(rate("40") == Approx(4e9));              // QDR: 8 of 10 bits
    CHECK(rate("56") == Approx(56e9 / 8 * 64 / 66)); // FDR
    CHECK(rate("40 (FDR10)") == Approx(5e9));
    CHECK(rate("50") == Approx(6.25e9));           // HDR, two lanes
    CHECK(rate("100") == Approx(12.5e9));
    CHECK_FALSE(of(""));
    CHECK_FALSE(of("CA 'x'\n\tPort 1:\n\t\tState: Active\n\t\tRate: fast\n"));
}
