#include "noise/losses_csv.h"
#include "support/error.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <string>

using namespace plumb;
using Catch::Contains;

namespace {

noise::LossesTable table_of(const std::string& text) {
    std::istringstream stream(text);
    return noise::parse_losses_table(stream, "l.csv");
}

std::string refusal_of_table(const std::string& text) {
    try {
        table_of(text);
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

} // namespace

TEST_CASE("a table of losses is read whatever the order of its columns and rows, in its units") {
    const auto table = table_of("# measured_s = 100\n# nodes=4\n# cpus_per_node=2\n# least_s=0.0001\n# made by hand\n"
                                "loss_us,node,remark,cpu,time_ms\r\n"
                                "640,1,b,0,1500\n"
                                "350,0,\"a\",1,20\n"
                                "\n"
                                "700,0,a,1,10\n"
                                "0,0,quiet,0,1\n");
    const model::NoiseLosses& losses = table.losses;
    REQUIRE(losses.losses.size() == 3);
    CHECK(losses.losses[0].begin_s == Approx(0.01));
    CHECK(losses.losses[0].length_s == Approx(700e-6));
    CHECK(losses.losses[1].cpu == 1);
    CHECK(losses.losses[2].node == 1);
    CHECK(losses.measured_s == Approx(100));
    CHECK(losses.nodes == 4);
    CHECK(losses.cpus_per_node == 2);
    CHECK(losses.least_s == Approx(1e-4));
    CHECK_FALSE(table.measured_is_derived);
    CHECK_FALSE(table.nodes_are_derived);
    CHECK(table.silent_nodes == 2);
    CHECK(table.silent_cpus == 2);
}

TEST_CASE("what a table of losses does not say is derived from its rows, and remembered as derived") {
    const auto table = table_of("node,cpu,time_s,loss_s\n0,4,1.5,0.25\n2,6,0.5,0.125\n");
    CHECK(table.losses.measured_s == Approx(1.75));
    CHECK(table.losses.nodes == 3);
    CHECK(table.losses.cpus_per_node == 2);
    CHECK(table.losses.least_s == Approx(0.125));
    CHECK((table.measured_is_derived && table.nodes_are_derived && table.cpus_are_derived && table.least_is_derived));
    CHECK(table.silent_nodes == 1);
    CHECK(table_of("node,cpu,time_s,loss_s\n").losses.losses.empty());
}

TEST_CASE("what is no table of losses is refused in a sentence with its line") {
    const std::string header = "node,cpu,time_s,loss_s\n";
    CHECK_THAT(refusal_of_table(""), Contains("l.csv is no table of losses"));
    CHECK_THAT(refusal_of_table("a,b\n1,2\n"), Contains("line 1: there is no column \"node\""));
    CHECK_THAT(refusal_of_table("node,cpu,time_h,loss_s\n"), Contains("there is no column \"time_s\""));
    CHECK_THAT(refusal_of_table("node,cpu,time_s,loss_s,node\n"), Contains("\"node\" is a column twice"));
    CHECK_THAT(refusal_of_table(header + "0,0,1\n"), Contains("line 2: has 3 columns, and the table's first line has 4"));
    CHECK_THAT(refusal_of_table(header + "0,0,-1,1\n"), Contains("line 2: time is \"-1\""));
    CHECK_THAT(refusal_of_table(header + "0,0,1,nan\n"), Contains("loss is \"nan\""));
    CHECK_THAT(refusal_of_table(header + "0,0,1,1e999\n"), Contains("loss is \"1e999\""));
    CHECK_THAT(refusal_of_table(header + "0.5,0,1,1\n"), Contains("node is 0.5"));
    CHECK_THAT(refusal_of_table(header + "0,99999,1,1\n"), Contains("cpu is 99999"));
    CHECK_THAT(refusal_of_table(header + "0,0,1\x1b,1\n"), Contains("time is \"1?\""));
    CHECK_THAT(refusal_of_table("# nodes=2\n" + header + "2,0,1,1\n"),
               Contains("line 3: node is 2: nodes are numbered from 0 to 1"));
    CHECK_THAT(refusal_of_table("# measured_s=10\n" + header + "0,0,11,1\n"), Contains("time is 11 s, and 10 s were measured"));
    CHECK_THAT(refusal_of_table("# measured_s=-1\n" + header), Contains("line 1: measured_s is \"-1\""));
    CHECK_THAT(refusal_of_table("# least_s=0.1\n" + header + "0,0,1,0.01\n"),
               Contains("losses below 0.1 s are not in the table"));
    CHECK_THAT(refusal_of_table("# cpus_per_node=1\n" + header + "0,0,1,0.01\n0,1,1,0.01\n"), Contains("2 different CPUs"));
    CHECK_THAT(refusal_of_table(header + "0,0,2,1\n0,0,1,1.5\n"),
               Contains("line 2: the loss of node 0, CPU 0 at 2.000000 s begins before that of line 3"));
    CHECK_THAT(refusal_of_table(header + std::string(5000, '1')), Contains("line 2: is longer than"));
    CHECK_THROWS_WITH(noise::read_losses_csv("/nonexistent/l.csv"), Contains("cannot read the losses from /nonexistent/l.csv"));
}
