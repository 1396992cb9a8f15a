#include "compare/run_conditions.h"

#include "analyses/time/counter_ratio.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>

namespace plumb {

namespace {

constexpr const char* kCpu = "the CPU of its busiest thread";
constexpr const char* kMemoryNode = "the memory node of that CPU";
constexpr const char* kStackInLine = "where its stack begins within a cache line";
constexpr const char* kStackInPage = "where its stack begins within a page";
constexpr const char* kEnvironment = "the size of its environment";
constexpr const char* kHugePages = "its memory on huge pages";
constexpr const char* kOthers = "CPU time of other programs";
constexpr const char* kSteal = "CPU time taken by the hypervisor";
constexpr const char* kFileCache = "file cache at its beginning";
constexpr const char* kRemote = "accesses to memory of other nodes";

constexpr const char* kCacheMisses = "data cache misses per thousand instructions";
constexpr const char* kMemoryMisses = "last level misses per thousand instructions";
constexpr const char* kTlbMisses = "data TLB misses per thousand instructions";
constexpr const char* kClock = "the clock of its CPUs, by their base clock";

constexpr double kMostly = 0.8;                // of a thread's time on one CPU
constexpr uint64_t kLeastResident = 8u << 20;  // bytes: less does not matter to huge pages
constexpr uint64_t kCacheLine = 64, kPage = 4096, kEighth = kPage / 8;

struct ConditionWords {
    const char* name;
    const char* unit; // "": a kind
    const char* advice;
};

constexpr std::array<ConditionWords, 14> kWords{{
    {kCpu, "", "Bind the run to the CPUs where it is fast (plumb pin --list), and look at what is wrong with the others (plumb noise)"},
    {kMemoryNode, "", "Bind the run to the CPUs and the memory of one node: plumb pin --compact --bind-memory"},
    {kStackInLine, "",
     "The addresses of local variables decide how many accesses cross a cache line: align the arrays on the stack that the hot loops use "
     "(alignas(64))"},
    {kStackInPage, "",
     "The addresses of local variables decide which of them lie 4096 bytes from other data and wait for its stores: move the arrays that the "
     "hot loops use off the stack, or pad them"},
    {kEnvironment, "bytes", "The environment moves the stack: start the runs with equal environments, or align what lies on the stack"},
    {kHugePages, "fraction", "Ask for huge pages (GLIBC_TUNABLES=glibc.malloc.hugetlb=1, madvise), and keep memory free for them"},
    {kOthers, "fraction", "Give the run CPUs of its own, or run it when the machine is idle"},
    {kSteal, "fraction", "Use virtual CPUs that are not shared"},
    {kFileCache, "bytes", "Make room for the run's memory before it begins: plumb run --sweep"},
    {kRemote, "fraction", "Bind threads and memory: plumb pin --scatter --bind-memory"},
    {kCacheMisses, "count", "Where arrays lie decides which of their lines share a set of the cache: pad leading dimensions that are powers of two"},
    {kMemoryMisses, "count", "Other programs, or where its pages lie, take caches away: run it alone on a cache, or on huge pages"},
    {kTlbMisses, "count", "Ask for huge pages (GLIBC_TUNABLES=glibc.malloc.hugetlb=1, madvise), and keep memory free for them"},
    {kClock, "fraction", "Look at the clock's governor and the temperature: cpupower frequency-info"},
}};

const ConditionWords* words_for(const std::string& name) {
    const auto found = std::ranges::find_if(kWords, [&](const ConditionWords& words) { return name == words.name; });
    return found == kWords.end() ? nullptr : &*found;
}

uint64_t run_ns_of(const model::Process& process) {
    return std::accumulate(process.threads.begin(), process.threads.end(), uint64_t{0},
                           [](uint64_t sum, const model::Thread& thread) { return sum + thread.run_ns; });
}

const model::Host* host_of_process(const model::Run& run, const model::Process& process) {
    const auto host = std::ranges::find(run.hosts, process.host, &model::Host::name);
    return host == run.hosts.end() ? nullptr : &*host;
}

void add_placement(const model::Run& run, const model::Process& process, RunConditions& conditions) {
    const auto busiest = std::ranges::max_element(process.threads, {}, &model::Thread::run_ns);
    if (busiest == process.threads.end() || busiest->run_ns == 0)
        return;
    std::map<int, uint64_t> cpus;
    uint64_t sum_ns = 0;
    for (const model::ThreadInterval& interval : busiest->intervals) {
        cpus[interval.cpu] += interval.run_ns;
        sum_ns += interval.run_ns;
    }
    if (sum_ns == 0)
        return;
    const auto most = std::ranges::max_element(cpus, {}, [](const auto& one) { return one.second; });
    const bool is_on_one = static_cast<double>(most->second) >= kMostly * static_cast<double>(sum_ns);
    conditions.kinds[kCpu] = is_on_one ? fmt::format("CPU {}", most->first) : "several";
    const model::Host* host = host_of_process(run, process);
    if (!host || host->nodes.size() < 2)
        return;
    std::map<int, uint64_t> nodes;
    for (const model::NumaNode& node : host->nodes)
        for (const int cpu : node.cpus)
            if (const auto on = cpus.find(cpu); on != cpus.end())
                nodes[node.node] += on->second;
    const auto node = std::ranges::max_element(nodes, {}, [](const auto& one) { return one.second; });
    if (node != nodes.end())
        conditions.kinds[kMemoryNode] =
            static_cast<double>(node->second) >= kMostly * static_cast<double>(sum_ns) ? fmt::format("node {}", node->first) : "several";
}

void add_layout(const model::Process& process, RunConditions& conditions) {
    const model::MemoryLayout& layout = process.memory.layout;
    if (layout.stack_start == 0)
        return;
    const uint64_t in_page = layout.stack_start % kPage / kEighth * kEighth;
    conditions.kinds[kStackInLine] = fmt::format("byte {}", layout.stack_start % kCacheLine);
    conditions.kinds[kStackInPage] = fmt::format("bytes {} to {}", in_page, in_page + kEighth - 1);
    conditions.amounts[kEnvironment] = static_cast<double>(layout.environment_bytes);
    if (layout.resident_bytes >= kLeastResident)
        conditions.amounts[kHugePages] = static_cast<double>(layout.huge_bytes) / static_cast<double>(layout.resident_bytes);
}

// Of the time of the CPUs that the run may use.
void add_neighbours(const model::Run& run, RunConditions& conditions) {
    uint64_t all_ns = 0, others_ns = 0, steal_ns = 0;
    for (const model::Host& host : run.hosts)
        for (const model::CpuInterval& interval : host.cpu_intervals) {
            if (!interval.allowed)
                continue;
            const uint64_t busy_ns = interval.user_ns + interval.system_ns;
            all_ns += interval.end_ns - interval.begin_ns;
            others_ns += busy_ns - std::min(busy_ns, interval.run_own_ns);
            steal_ns += interval.steal_ns;
        }
    if (all_ns == 0)
        return;
    conditions.amounts[kOthers] = static_cast<double>(others_ns) / static_cast<double>(all_ns);
    conditions.amounts[kSteal] = static_cast<double>(steal_ns) / static_cast<double>(all_ns);
}

void add_file_cache(const model::Run& run, RunConditions& conditions) {
    uint64_t bytes = 0;
    for (const model::Host& host : run.hosts) {
        const auto first = std::ranges::min_element(host.memory, {}, &model::NodeMemory::time_ns);
        for (const model::NodeMemory& node : host.memory)
            bytes += node.time_ns == first->time_ns ? node.file_bytes : 0;
    }
    if (bytes > 0)
        conditions.amounts[kFileCache] = static_cast<double>(bytes);
}

void add_remote(const model::Process& process, RunConditions& conditions) {
    uint64_t known_ns = 0, remote_ns = 0;
    for (const model::MemoryTraffic& traffic : process.memory.traffic)
        if (traffic.nodes_known()) {
            known_ns += traffic.time_ns;
            remote_ns += traffic.remote() ? traffic.time_ns : 0;
        }
    if (known_ns > 0)
        conditions.amounts[kRemote] = static_cast<double>(remote_ns) / static_cast<double>(known_ns);
}

// Relations of events to work, which do not follow from how long it took.
void add_counters(const model::Run& run, RunConditions& conditions) {
    const auto add = [&](const char* name, const char* event, const char* of, double factor) {
        if (const auto ratio = counter_ratio(run, event, of))
            conditions.amounts[name] = factor * ratio->value;
    };
    add(kCacheMisses, "data cache misses", "instructions", 1000);
    add(kMemoryMisses, "last level misses", "instructions", 1000);
    add(kTlbMisses, "data TLB misses", "instructions", 1000);
    add(kClock, "cycles", "reference cycles", 1);
}

} // namespace

RunConditions conditions_of(const model::Run& run) {
    RunConditions conditions;
    const auto longest = std::ranges::max_element(run.processes, {}, run_ns_of);
    if (longest != run.processes.end()) {
        add_placement(run, *longest, conditions);
        add_layout(*longest, conditions);
        add_remote(*longest, conditions);
    }
    add_neighbours(run, conditions);
    add_file_cache(run, conditions);
    add_counters(run, conditions);
    return conditions;
}

std::string amount_unit(const std::string& name) {
    const ConditionWords* words = words_for(name);
    return words ? words->unit : "";
}

std::string condition_advice(const std::string& name) {
    const ConditionWords* words = words_for(name);
    return words ? words->advice : "";
}

} // namespace plumb
