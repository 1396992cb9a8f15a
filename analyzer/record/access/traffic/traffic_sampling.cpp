#include "record/access/traffic/traffic_sampling.h"

#include "platform/available_memory.h"
#include "platform/cpu_list.h"
#include "platform/cpu_paths.h"
#include "record/calibrate/known_bandwidth.h"
#include "record/calibrate/usable_cache.h"
#include "record/perf/perf_record.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <map>
#include <numeric>
#include <set>

namespace plumb::record {

namespace {

constexpr int kSamples = 48;        // of one thread in one burst
constexpr size_t kRingPages = 4;    // room for them
constexpr size_t kMostThreads = 256;
// Different from burst to burst: none is in step with whatever the program repeats. Longer ones would miss that streams come
// around (24 MB in three arrays, shared by eight threads at 5 GB/s each, take 0.8 ms), shorter ones slow the program down:
// on virtual machines a sample costs 20 us and more.
constexpr std::array<uint64_t, 4> kPeriods_ns = {191'000, 203'000, 211'000, 197'000};
constexpr uint64_t kLongestGap = 3; // periods
constexpr uint64_t kShortestPause_ns = 100'000'000, kAgeShare = 32; // between bursts
// What all bursts together may cost: 20 ms at once, enough for a short run, and 1/400 of the time. The cost of a sample in the
// program is assumed, as measured on a virtual machine.
constexpr uint64_t kHeadStart_ns = 20'000'000, kCostFactor = 400, kLikelySampleCost_ns = 20'000;
// Streams that move less than 1 GB/s, all together, keep no memory busy. Once bursts in a row found no more, the next ones come
// ever less often: a program whose second half streams is looked at before three quarters of it.
constexpr uint64_t kLeastStreamed_bytes_per_us = 1000, kFruitlessBursts = 3, kFruitlessAgeShare = 2;
constexpr uint64_t kWalkerAge_ns = 500'000'000;
constexpr uint64_t kLeastWalked = 20;    // 1/20 of the sampled accesses: below it nothing is measured
constexpr uint64_t kCachesBeyond = 2;    // times their size: what the arrays of the trial take
constexpr uint64_t kMostTiming_ns = 2'000'000'000;
constexpr const char* kSource = "memory-traffic";

perf_event_attr burst_event(uint64_t period_ns) {
    perf_event_attr event{};
    event.size = sizeof event;
    event.type = PERF_TYPE_SOFTWARE;
    event.config = PERF_COUNT_SW_CPU_CLOCK;
    event.sample_period = period_ns;
    event.sample_type = kSampleFields;
    event.disabled = 1;
    event.sample_id_all = 1;
    event.use_clockid = 1;
    event.clockid = CLOCK_MONOTONIC;
    event.exclude_kernel = event.exclude_hv = 1;
    event.sample_type |= PERF_SAMPLE_REGS_USER;
    event.sample_regs_user = kUserRegisters;
    return event;
}

uint64_t bytes_of_caches(const std::vector<platform::CpuPath>& paths) {
    std::map<int, uint64_t> caches;
    for (const platform::CpuPath& path : paths)
        caches[path.cache] = path.cache_bytes;
    return std::accumulate(caches.begin(), caches.end(), uint64_t{0},
                           [](uint64_t sum, const auto& cache) { return sum + cache.second; });
}

// `bytes` * `part` / `whole`
uint64_t scaled(uint64_t bytes, uint64_t part, uint64_t whole) {
    return static_cast<uint64_t>(static_cast<double>(bytes) * static_cast<double>(part) / static_cast<double>(whole));
}

} // namespace

void TrafficSampling::take(const SampledAccess& access) {
    total_ns_ += access.weight_ns;
    if (!access.move && !(access.flags & trace::kAlignString))
        return;
    walked_ns_ += access.weight_ns;
    table_.note(access.pid, access.generation, access.instruction, access.address);
    Walker& walker = walkers_[access.tid];
    walker.pid = access.pid;
    walker.last_ns = std::max(walker.last_ns, access.time_ns);
}

void TrafficSampling::forget(uint32_t pid) {
    std::erase_if(walkers_, [pid](const auto& walker) { return walker.second.pid == pid; });
}

void TrafficSampling::look(uint64_t now_ns) {
    if (now_ns < next_ns_)
        return;
    if (rings_.empty())
        begin(now_ns);
    else
        end(now_ns);
}

bool TrafficSampling::walks_enough() const { return walked_ns_ * kLeastWalked >= total_ns_; }

void TrafficSampling::begin(uint64_t now_ns) {
    next_ns_ = now_ns + kShortestPause_ns / 2;
    std::erase_if(walkers_, [now_ns](const auto& walker) { return walker.second.last_ns + kWalkerAge_ns < now_ns; });
    if (walkers_.empty() || !walks_enough())
        return;
    period_ns_ = kPeriods_ns[bursts_++ % kPeriods_ns.size()];
    const perf_event_attr event = burst_event(period_ns_);
    for (const auto& [tid, walker] : walkers_) {
        PerfRing ring;
        const int error = ring.open(event, static_cast<int>(tid), -1, kRingPages);
        if (error == ESRCH)
            continue; // it ended
        if (error != 0 || rings_.size() >= kMostThreads) {
            // The traffic of some threads alone says nothing.
            rings_.clear();
            why_not_ = error ? std::string("threads could not be sampled densely (") + std::strerror(error) + ")"
                             : "there are too many threads to sample all of them densely";
            next_ns_ = now_ns + 10 * kShortestPause_ns;
            return;
        }
        rings_.emplace_back(tid, std::move(ring));
    }
    if (rings_.empty())
        return;
    burst_begin_ns_ = monotonic_ns();
    for (auto& [tid, ring] : rings_)
        ring.enable_for(kSamples);
    next_ns_ = burst_begin_ns_ + kSamples * period_ns_ * 5 / 4 + 1'000'000;
}

void TrafficSampling::end(uint64_t now_ns) {
    const uint64_t begin_cpu_ns = own_cpu_ns();
    const perf_event_attr event = burst_event(period_ns_);
    const auto registers = static_cast<unsigned>(std::popcount(event.sample_regs_user));
    for (auto& [tid, ring] : rings_)
        ring.enable(false);
    std::vector<ThreadBurst> threads;
    uint64_t end_ns = monotonic_ns();
    for (auto& [tid, ring] : rings_) {
        ThreadBurst thread;
        ring.drain([&](const perf_event_header& header) {
            const auto record = decode(header, event.sample_type, registers);
            if (!record || record->kind != PerfKind::sample)
                return;
            LoopSample sample;
            sample.time_ns = record->time_ns;
            if (auto loop = loops_.loop_at(*record)) {
                sample.begin = loop->begin;
                sample.end = loop->end;
                sample.positions = std::move(loop->positions);
                thread.generation = loop->generation;
            }
            thread.pid = record->pid;
            thread.samples.push_back(std::move(sample));
            thread.cpus.push_back(record->cpu);
        });
        samples_ += thread.samples.size();
        thread.is_full = thread.samples.size() >= kSamples;
        if (!thread.samples.empty())
            threads.push_back(std::move(thread));
    }
    rings_.clear();
    const uint64_t streamed = table_.take(threads, {burst_begin_ns_, end_ns, period_ns_, kLongestGap * period_ns_});
    fruitless_ = streamed * 1000 < kLeastStreamed_bytes_per_us * (end_ns - burst_begin_ns_) ? fruitless_ + 1 : 0;
    uint64_t taken = 0;
    for (const ThreadBurst& thread : threads)
        taken += thread.samples.size();
    spent_ns_ += own_cpu_ns() - begin_cpu_ns + taken * kLikelySampleCost_ns;
    const uint64_t over_ns = spent_ns_ > kHeadStart_ns ? (spent_ns_ - kHeadStart_ns) * kCostFactor : 0;
    // Between a half and three halves of it, by chance: of a program that repeats itself no part must hide from all bursts.
    const uint64_t share = fruitless_ < kFruitlessBursts ? kAgeShare : kFruitlessAgeShare;
    const uint64_t pause_ns = std::max(kShortestPause_ns, (now_ns - begin_ns_) / share);
    next_ns_ = std::max(now_ns + pause_ns / 2, begin_ns_ + over_ns) + random_.next() % (pause_ns + 1);
}

void TrafficSampling::write(NodeTraceWriter& file, uint64_t sharers, Calibration& calibration) {
    rings_.clear();
    if (!why_not_.empty())
        file.evidence(kSource, trace::EvidenceState::limited, why_not_,
                      "a larger limit of locked memory (ulimit -l) or of open files (ulimit -n)");
    if (!walks_enough() || table_.samples_by_cpu().empty())
        return;
    std::vector<int> cpus;
    for (const auto& [cpu, samples] : table_.samples_by_cpu())
        cpus.push_back(cpu);
    std::vector<platform::CpuPath> paths = platform::read_cpu_paths("", cpus);
    uint64_t cache_bytes = bytes_of_caches(paths);
    if (cache_bytes == 0)
        return;
    const uint64_t most_bytes = platform::available_memory("") / 4;
    const uint64_t said_bytes = std::ranges::max(paths, {}, &platform::CpuPath::cache_bytes).cache_bytes; // of one cache
    if (table_.depends_on_cache(scaled(cache_bytes, kLeastUsableCache_bytes, said_bytes), cache_bytes)) {
        const uint64_t usable_bytes = known_usable_cache_bytes(calibration.cache(), said_bytes, most_bytes, monotonic_ns());
        for (platform::CpuPath& path : paths)
            path.cache_bytes = scaled(path.cache_bytes, usable_bytes, said_bytes);
        cache_bytes = bytes_of_caches(paths);
    }
    const StreamTable::Written written =
        table_.write(file, cache_bytes, [&] { return calibration.sample_cost_ns(burst_event(kPeriods_ns[0]), true); });
    if (written.mixes.empty())
        return;
    if (sharers > 1) {
        file.evidence(kSource, trace::EvidenceState::limited,
                      "each rank has its own recorder, so the traffic of all ranks of this machine together is not known",
                      "use one recorder for all ranks of this machine: plumb run -- mpirun ...");
        return;
    }
    // The CPUs that were used most, as many as there were threads.
    std::ranges::stable_sort(paths, std::greater{}, [&](const platform::CpuPath& path) {
        return table_.samples_by_cpu().at(path.cpu);
    });
    paths.resize(std::min<size_t>(paths.size(), written.threads));
    paths = platform::spread(std::move(paths));
    std::vector<TimedCpu> timed;
    std::map<int, std::map<int, uint64_t>> caches_of_nodes;
    for (const platform::CpuPath& path : paths) {
        timed.push_back({path.cpu, path.node});
        caches_of_nodes[path.node][path.cache] = path.cache_bytes;
    }
    uint64_t bytes_each_node = 0;
    for (const auto& [node, own] : caches_of_nodes) {
        uint64_t bytes = 0;
        for (const auto& [cache, size] : own)
            bytes += size;
        bytes_each_node = std::max(bytes_each_node, kCachesBeyond * bytes);
    }
    const uint64_t begin_ns = monotonic_ns();
    for (const StreamMix& mix : written.mixes) {
        if (monotonic_ns() - begin_ns > kMostTiming_ns / 2)
            break;
        const BandwidthTime time = known_bandwidth(calibration.cache(), mix, timed, bytes_each_node, monotonic_ns(), [&] {
            return time_bandwidth(mix, timed, bytes_each_node, most_bytes);
        });
        trace::BandwidthRoof record{};
        record.loads = static_cast<uint16_t>(mix.loads);
        record.stores = static_cast<uint16_t>(mix.stores);
        record.updates = static_cast<uint16_t>(mix.updates);
        record.past_caches = static_cast<uint16_t>(mix.past_caches);
        record.bytes = time.bytes;
        record.why_not = file.string(time.why_not);
        if (time.points.empty())
            file.append(trace::RecordType::BandwidthRoof, 0, record);
        for (const BandwidthPoint& point : time.points) {
            std::vector<int> used;
            std::set<int> nodes;
            for (uint32_t i = 0; i < point.threads; ++i) {
                used.push_back(timed[i].cpu);
                nodes.insert(timed[i].node);
            }
            std::ranges::sort(used);
            record.threads = point.threads;
            record.cpus = file.string(platform::format_cpu_list(used));
            record.nodes = static_cast<uint32_t>(nodes.size());
            record.bytes_per_s = static_cast<uint64_t>(point.bytes_per_s);
            record.low_bytes_per_s = static_cast<uint64_t>(point.low);
            record.high_bytes_per_s = static_cast<uint64_t>(point.high);
            file.append(trace::RecordType::BandwidthRoof, 0, record);
        }
    }
}

} // namespace plumb::record
