// Work whose instructions, branches, floating point operations and memory accesses are known exactly, done by a process of its own
// in two threads on two CPUs: what an event counts of it shows whether the event can be believed.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace plumb::record {

// What an event counts. at_most_: how often the event occurs is not known, only that it cannot occur more often than that.
enum class Quantity {
    instructions,
    branches,
    double_operations,        // additions and multiplications, each element of a vector one
    scalar_double_operations, // those of scalar instructions only
    scattered_loads,          // loads that miss every cache and, on small pages, the translation cache
    cycles,
    cpu_ns,
    page_faults,
    context_switches,
    cpu_migrations,
    at_most_cycles,
    memory_cycles, // in which nothing is done until data come: many at each scattered load
    at_most_loads,
    at_most_branches,
};

// How many of it are right for the known work: the counts of a right event lie between the two.
struct KnownCount {
    double least = 0, most = 0;
    double exact = 0; // 0: only the bounds are known
};

// Used by one thread, while no other one of the process may hold a lock: it forks without exec.
class KnownWork {
  public:
    // Forks a process named kName, which waits. Its two threads are bound to these CPUs, which may be the same one. `scatters`: the
    // first one makes scattered loads, for which it needs 32 MiB. On failure works() is false and why() says which step.
    KnownWork(int first_cpu, int second_cpu, bool scatters);
    ~KnownWork(); // ends and reaps it
    KnownWork(const KnownWork&) = delete;
    KnownWork& operator=(const KnownWork&) = delete;

    static constexpr const char* kName = "plumb-known";

    bool works() const { return why_.empty(); }
    const std::string& why() const { return why_; }
    pid_t pid() const { return pid_; }

    // Lets it do its work, in a second or less, and waits for that: both threads are still there then. False: it did not answer.
    bool run();

    // After run(). `first_thread_only`: without the second thread.
    KnownCount count(Quantity quantity, bool first_thread_only = false) const;

  private:
    const bool scatters_;
    pid_t pid_ = -1;
    int socket_ = -1; // to it
    double cpu_ns_[2] = {}; // of each thread, for its work
    std::string why_;
};

// The counts of the work by themselves, without the scattered loads and their loop, for stand-ins of counters in tests.
struct KnownThreadWork {
    uint64_t instructions, branches, double_operations, scalar_double_operations;
};
KnownThreadWork known_thread_work(bool is_first);
uint64_t known_scattered_loads(); // of the first thread

} // namespace plumb::record
