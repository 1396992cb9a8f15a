// Sampled accesses that scatter over the pages of a large piece of memory, so that nearly each of them needs a page whose
// translation the processor no longer has; how much of that memory huge pages hold, looked up a few times a run; and,
// when the program has ended, what such accesses cost on this machine with small and with huge pages (PageScatter and
// HugePages records).
#pragma once

#include "platform/huge_pages.h"
#include "record/access/sampling/access_sampling.h"
#include "record/access/walks/access_burst.h"
#include "record/access/walks/sampled_places.h"
#include "record/access/walks/walker_key.h"
#include "record/calibrate/page_timing.h"
#include "record/run/node_trace_writer.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace plumb::record {

class PageScatter {
  public:
    explicit PageScatter(std::string proc_root, StartBurst start_burst = record::start_burst)
        : proc_root_(std::move(proc_root)), start_burst_(std::move(start_burst)) {}

    // An access that was sampled. About 50 ns.
    void take(const SampledAccess& access);

    // Looks at the mappings of processes that scatter, when it is time to: for accesses that no look has seen it takes 0.5 % of
    // the time at most, for others 0.1 %. Watches some rounds of the instructions that scatter, once each.
    void look(uint64_t now_ns);

    void forget(uint32_t pid); // it ended: nothing more can come

    // Measures and appends what is worth it. Once, when the program has ended: takes about a second for each different form
    // of accesses, two seconds at the most, and nothing where there is none. `sharers`: recorders on this machine, which
    // may do so at the same time.
    void write(NodeTraceWriter& file, uint64_t sharers);

  private:
    static constexpr size_t kThreadsKept = 4;
    struct Latest { // of one thread
        uint32_t tid = 0;
        uint64_t address = 0, time_ns = 0, before = 0;
    };
    struct Use { // of one mapping
        platform::PageBacking backing; // as seen last
        uint64_t looks = 0;
        double time_ns = 0, small_ns = 0; // of the accesses, and of them on small pages
    };
    struct Site {
        uint64_t samples = 0, time_ns = 0, settled_ns = 0; // settled: shared out among `uses`
        uint64_t first_ns = 0, last_ns = 0;
        uint64_t lowest = UINT64_MAX, highest = 0;
        uint16_t width = 0, flags = 0;
        bool in_loop = false, chases = false;
        uint8_t length = 0;
        shim::MemoryOperand operand{};
        uint32_t tries = 0;                // to watch it
        uint64_t watched = 0, new_pages = 0; // accesses that followed one another; those that needed another page
        std::array<Latest, kThreadsKept> latest{};
        std::vector<SampledPlace> places; // an even choice of all samples
        std::map<uint64_t, Use> uses;     // by start of the mapping
    };
    struct Traced {
        std::unordered_map<WalkerKey, Site, WalkerKeyHash> sites;
        uint64_t first_ns = 0, time_ns = 0, next_look_ns = 0;
        uint64_t earliest_look_ns = 0; // what the last one cost allows: for accesses that no look has seen
        bool refuses = false; // prctl(PR_SET_THP_DISABLE)
        std::unique_ptr<AccessBurst> burst; // under way, at one instruction
        WalkerKey burst_at{};
        uint64_t bursts = 0, burst_end_ns = 0;
    };
    struct Candidate {
        uint32_t pid;
        WalkerKey key;
        Site site;
        Use use;
        Scatter scatter;
        uint64_t last_address;
        bool refuses;
    };
    static bool matters(const Traced& process, const Site& site);
    static void settle(Site& site, const std::vector<platform::PageBacking>& areas);
    static void share_out_rest(Site& site);
    void judge(uint32_t pid, Traced& process);
    void watch(Traced& process, uint64_t now_ns);
    static void take_burst(Traced& process);

    const std::string proc_root_;
    const StartBurst start_burst_;
    std::unordered_map<uint32_t, Traced> processes_; // by pid
    std::vector<Candidate> candidates_;
    size_t sites_ = 0;
    uint64_t total_ns_ = 0;  // of all accesses that were taken
    uint64_t unseen_ns_ = 0; // of those that scatter, and whose mappings could not be looked at
    uint64_t random_ = 88172645463325252;
};

} // namespace plumb::record
