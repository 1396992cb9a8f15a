// What one probe of a machine measured: values of every round, before anybody judges them.
#pragma once

#include "record/noise/cpu_users.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace plumb::probe {

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

// What is measured on each CPU, while the others are left alone.
enum class CpuTest : uint8_t { compute, cache, latency, bandwidth, clock };
inline constexpr size_t kCpuTests = 5;
inline constexpr std::array<CpuTest, kCpuTests> kAllCpuTests{CpuTest::compute, CpuTest::cache, CpuTest::latency,
                                                             CpuTest::bandwidth, CpuTest::clock};
const char* name_of(CpuTest test);

// One stretch of work by a thread that is bound to a CPU. Operations: a multiplication, an access, a byte, a cycle.
struct Turn {
    double operations = 0, wall_ns = 0, cpu_ns = 0;
    double best_ns = 0; // of one operation, in the fastest part of the turn

    bool is_measured() const { return operations > 0 && wall_ns > 0 && cpu_ns > 0; }
    double wall_of_one_ns() const { return is_measured() ? wall_ns / operations : kNotMeasured; }
    double cpu_of_one_ns() const { return is_measured() ? cpu_ns / operations : kNotMeasured; }
};

struct CpuTurns { // by round
    int cpu = 0;
    std::array<std::vector<Turn>, kCpuTests> turns;

    const std::vector<Turn>& of(CpuTest test) const { return turns[static_cast<size_t>(test)]; }
};

// Values by round; rounds in which one of the two CPUs was busy with others are left out.
struct PairTurns {
    int first = 0, second = 0;
    std::vector<double> handover_ns;                    // a cache line there and back, halved
    std::vector<double> compute_slowdown, read_slowdown; // both at the same time, against each alone in the same round
};

struct CopyTurns { // so many copies at a time
    uint32_t copies = 0;
    std::vector<double> compute_slowdown;    // mean of the copies, in CPU time, against the same CPUs alone
    std::vector<double> bytes_per_s;         // all together
};

struct NodeTurns { // accesses from a CPU to memory of a NUMA node
    int cpu = 0, cpu_node = 0, memory_node = 0;
    std::vector<double> latency_ns;
};

struct PageTurns {
    std::vector<double> small_ns, huge_ns; // of an access, with pages of either kind
    double huge_share = 0;                 // of the memory that was asked for with huge pages: what has them
    std::string why_not;                   // in words; empty: both were measured
};

struct DiskTurns {
    std::string folder;
    std::vector<double> write_bytes_per_s, read_bytes_per_s, sync_s;
    bool is_direct = false; // read past the page cache
    std::string why_not;
};

struct MachineFacts {
    std::string host, kernel, cpu_model, clock_source;
    int cpu_count = 0;
    uint64_t memory_bytes = 0, cache_bytes = 0; // of the last cache of the first CPU that was measured
};

struct Measured {
    MachineFacts machine;
    double begin_s = 0, took_s = 0; // since 1970
    size_t rounds = 0, rounds_needed = 0; // needed: for verdicts on CPUs
    int signal = 0; // that ended it early
    uint64_t turn_ns = 0;
    std::vector<CpuTurns> cpus;
    std::vector<PairTurns> pairs;
    size_t pairs_left_out = 0;
    std::vector<CopyTurns> copies;
    std::vector<NodeTurns> nodes; // empty: there is one
    PageTurns pages;
    DiskTurns disk;
    std::vector<double> clock_read_ns, tsc_hz; // tsc_hz: empty where there is none
    std::map<int, double> stolen_share;        // by CPU: of its time, given to others by the hypervisor
    std::vector<record::CpuUse> others;        // threads that ran meanwhile
    double arena_bytes = 0;                    // memory that latency and bandwidth were measured with, of one last cache
};

} // namespace plumb::probe
