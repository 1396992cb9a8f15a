// Two hosts that are one machine, as containers with names of their own are: its CPUs count once, and its ranks are no other programs.
#include "analyses/time/run_totals.h"
#include "model/shared_machine.h"
#include "synthetic_run.h"

#include <catch2/catch.hpp>

using namespace plumb;
using plumb::testing::SyntheticRun;

namespace {

// Two threads that share CPU 0 of two, each in a process of a host of its own.
SyntheticRun two_hosts(uint64_t machine, uint64_t other_machine) {
    SyntheticRun made(8, 2);
    made.run.hosts[0].machine = machine;
    made.add_thread(0, 0.5, 0.5).allowed_cpus = {0};
    made.add_process("app");
    made.add_thread(0, 0.5, 0.5).allowed_cpus = {0};
    made.finish();
    made.run.processes[1].host = "pod";
    model::Host pod = made.run.hosts[0];
    pod.name = "pod";
    pod.machine = other_machine;
    made.run.hosts.push_back(pod);
    for (size_t host : {0u, 1u}) { // each took the other's rank for a stranger
        model::OtherProcess other;
        other.pid = made.run.processes[1 - host].pid;
        other.name = "app";
        other.cpu_ns = SyntheticRun::ns(4);
        made.run.hosts[host].others.push_back(other);
        other.pid = 900 + static_cast<uint32_t>(1 - host); // and its recorder
        other.name = "plumb";
        made.run.hosts[host].others.push_back(other);
        other.pid = 4242;
        other.name = "sshd";
        made.run.hosts[host].others.push_back(other);
    }
    return made;
}

} // namespace

TEST_CASE("ranks of one machine under two names share its CPUs", "[machine]") {
    SyntheticRun made = two_hosts(7, 7);
    model::forget_own_among_others(made.run, {{0, 900}, {1, 901}});
    for (const model::Host& host : made.run.hosts) {
        REQUIRE(host.others.size() == 1);
        CHECK(host.others[0].name == "sshd");
    }
    CHECK(totals_of(made.run).usable_cpus == 2);
    const std::vector<Finding> findings = made.diagnose("cpu-oversubscribed");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.fraction == Approx(0.5).epsilon(0.01));
    CHECK(std::get<double>(findings[0].evidence.at("others_cpu_seconds")) == Approx(0).margin(0.01));
    CHECK(std::get<int64_t>(findings[0].evidence.at("thread_count")) == 2);
}

TEST_CASE("two machines have CPUs of their own, also where their names are alike", "[machine]") {
    for (const uint64_t machine : {8, 0}) { // another one, or not known
        SyntheticRun made = two_hosts(machine == 0 ? 0 : 7, machine);
        model::forget_own_among_others(made.run, {{0, 900}, {1, 901}});
        for (const model::Host& host : made.run.hosts)
            CHECK(host.others.size() == 3);
        CHECK(totals_of(made.run).usable_cpus == 4);
    }
}

TEST_CASE("containers with CPUs of their own share none", "[machine]") {
    SyntheticRun made = two_hosts(7, 7);
    made.run.hosts[0].allowed_cpus = {0};
    made.run.hosts[1].allowed_cpus = {1};
    CHECK(totals_of(made.run).usable_cpus == 2);
    CHECK_FALSE(model::share_cpus(made.run.hosts[0], made.run.hosts[1]));
    CHECK_FALSE(model::is_counted_before(made.run, made.run.hosts[1]));
}
