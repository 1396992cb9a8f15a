// The same jobs under the same events of noise, simulated by SimGrid (https://simgrid.org) as an independent witness.
//
// usage: simgrid-witness
// Of SimGrid: a host for each rank, which is a billion times slower while noise holds its CPU (0 is no speed to it); an actor
// for each rank, which computes and then takes part in a dissemination barrier of real messages over a network of constant
// latency. Nothing of simulate/ but the events is used for that. Prints both times of each job; fails where they differ by more
// than 2 %.
#include "simulate/rank_noise.h"
#include "simulate/simulate_job.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/core.h>
#include <simgrid/kernel/ProfileBuilder.hpp>
#include <simgrid/s4u.hpp>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

namespace s4u = simgrid::s4u;
using namespace plumb;

constexpr double kMostDifference = 0.02;
constexpr double kLatency_s = 1e-5;
constexpr double kSpeed = 1e9; // of a host, in operations a second

model::NoiseClass class_of(const char* name, double period_s, double length_s) {
    model::NoiseClass result;
    result.name = name;
    result.frequency_hz = 1 / period_s;
    result.duration.mean_s = length_s;
    return result;
}

struct WitnessCase {
    const char* name;
    model::NoiseMachine machine;
    simulate::Job job;
};

std::vector<WitnessCase> witness_cases() {
    simulate::Job job;
    job.ranks = 64;
    job.ranks_per_node = job.cpus_per_node = 4;
    job.cycle_work_s = {0.001};
    job.cycles = 600;
    job.per_hop_s = kLatency_s;
    auto daemon = class_of("daemon", 0.5, 0.02), quorum = class_of("quorum", 0.3, 0.05), tick = class_of("tick", 0.02, 0.0003);
    daemon.regularity = model::NoiseClass::Regularity::poisson;
    daemon.duration.shape = model::NoiseDuration::Shape::exponential;
    quorum.nodes = {8, {1}};
    quorum.jitter = 0.2;
    tick.scope = model::NoiseClass::Scope::cpu;
    const auto periodic = class_of("heartbeat", 0.125, 0.00064), slow = class_of("slow", 0.6, 0.00035);
    auto uneven = job;
    uneven.cycle_work_s = {0.0002, 0.003};
    uneven.work_factor = simulate::spread_factors(job.ranks, 0.2, 1);
    return {{"without noise", {}, job},
            {"periodic noise of nodes", {"", 16, 4, {periodic, slow}}, job},
            {"all kinds of noise", {"", 16, 4, {periodic, daemon, quorum, tick}}, job},
            {"all kinds, uneven work", {"", 16, 4, {periodic, daemon, quorum, tick}}, uneven}};
}

// Speeds of a rank's host, as a profile of SimGrid: lines of time and factor. The job starts at time 0 of SimGrid.
std::string speed_profile(const simulate::RankNoise& noise, uint32_t rank, double start_s, double end_s) {
    std::vector<simulate::NoiseEvent> events;
    noise.gather(rank, 0, end_s, events);
    std::string text;
    double from_s = -1, to_s = -1;
    const auto put = [&] {
        if (to_s <= start_s)
            return;
        text += fmt::format("{:.12f} 1e-9\n{:.12f} 1\n", std::max(from_s, start_s) - start_s, to_s - start_s);
    };
    for (const simulate::NoiseEvent& event : events) {
        if (event.begin_s > to_s) {
            put();
            from_s = to_s = event.begin_s;
        }
        to_s += event.length_s; // in its turn
    }
    put();
    return text;
}

void run_rank(uint32_t rank, const simulate::Job& job) {
    for (uint32_t cycle = 0; cycle < job.cycles; cycle++) {
        s4u::this_actor::execute(job.work_s(rank, cycle) * kSpeed);
        for (uint32_t distance = 1, round = 0; distance < job.ranks; distance *= 2, round++) {
            const auto box = [&](uint32_t receiver) { return s4u::Mailbox::by_name(fmt::format("{} {}", receiver, round)); };
            int sent = 0, *received = nullptr;
            const s4u::CommPtr sending = box((rank + distance) % job.ranks)->put_async(&sent, 1);
            const s4u::CommPtr receiving = box(rank)->get_async<int>(&received);
            receiving->wait();
            sending->wait();
        }
    }
}

// SimGrid has one engine a process.
double simgrid_total_s(const WitnessCase& one, double start_s, double end_s) {
    std::string name = "simgrid-witness";
    std::string quiet = "--log=root.thresh:warning";
    std::vector<char*> arguments{name.data(), quiet.data(), nullptr};
    int count = 2;
    s4u::Engine engine(&count, arguments.data());
    s4u::Engine::set_config("network/model:CM02"); // latency and bandwidth as they are given
    s4u::Engine::set_config("network/TCP-gamma:0");
    auto* zone = s4u::create_full_zone("cluster");
    auto* network = zone->create_link("network", 1e12)
                        ->set_latency(kLatency_s)
                        ->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)
                        ->seal();
    const simulate::RankNoise noise(one.machine, one.job, 1);
    std::vector<s4u::Host*> hosts;
    for (uint32_t rank = 0; rank < one.job.ranks; rank++) {
        s4u::Host* host = zone->create_host("rank " + std::to_string(rank), kSpeed);
        const std::string profile = speed_profile(noise, rank, start_s, end_s);
        if (!profile.empty())
            host->set_speed_profile(simgrid::kernel::profile::ProfileBuilder::from_string(host->get_name(), profile, -1));
        hosts.push_back(host->seal());
    }
    for (size_t i = 0; i < hosts.size(); i++)
        for (size_t j = i + 1; j < hosts.size(); j++)
            zone->add_route(hosts[i]->get_netpoint(), hosts[j]->get_netpoint(), nullptr, nullptr, {s4u::LinkInRoute(network)});
    zone->seal();
    for (uint32_t rank = 0; rank < one.job.ranks; rank++)
        s4u::Actor::create("rank", hosts[rank], [rank, &one] { run_rank(rank, one.job); });
    engine.run();
    return s4u::Engine::get_clock();
}

// Its exit status says whether the witness agrees.
int compare(const WitnessCase& one) {
    const simulate::Outcome outcome = simulate::simulate_job(one.job, one.machine, 1);
    const double start_s = simulate::job_start_s(one.machine);
    const double other_s = simgrid_total_s(one, start_s, start_s + 2 * outcome.total_s + 1);
    const double difference = std::fabs(other_s / outcome.total_s - 1);
    fmt::print("{:<26} plumb {:.6f} s, SimGrid {:.6f} s, apart by {:.3f} %, without noise {:.6f} s\n", one.name,
               outcome.total_s, other_s, difference * 100, outcome.quiet_s);
    return difference <= kMostDifference ? 0 : 1;
}

} // namespace

int main() {
    int status = 0;
    for (const WitnessCase& one : witness_cases()) {
        std::fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            const int result = compare(one);
            std::fflush(stdout);
            _exit(result);
        }
        int wait_status = 1;
        if (child < 0 || waitpid(child, &wait_status, 0) != child || wait_status != 0)
            status = 1;
    }
    return status;
}
