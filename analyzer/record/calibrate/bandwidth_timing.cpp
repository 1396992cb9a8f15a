#include "record/calibrate/bandwidth_timing.h"

#include "platform/anonymous_memory.h"
#include "record/run/node_trace_writer.h"
#include "support/memory_units.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <map>
#include <memory>
#include <sched.h>
#include <system_error>
#include <thread>

namespace plumb::record {

namespace {

constexpr uint64_t kTurn_ns = 8'000'000; // of one repetition
constexpr uint64_t kLongestWarmUp_ns = 60'000'000;
constexpr int kPasses = 2, kTurns = 4; // over all numbers of threads, and in a row
constexpr uint64_t kMostTiming_ns = 1'200'000'000;
constexpr uint32_t kMostArrays = 6;

enum class Kind : uint8_t { load, store, update, past_caches };

// Sums are kept in a register that nobody looks at. In assembler where that is the common machine, so that a build without
// optimisation measures the same.
#if defined(__x86_64__)

inline void touch(Kind kind, char* line) {
    switch (kind) {
    case Kind::load:
        asm volatile("movaps (%0), %%xmm0\n\tmovaps 16(%0), %%xmm1\n\tmovaps 32(%0), %%xmm2\n\tmovaps 48(%0), %%xmm3"
                     : : "r"(line) : "xmm0", "xmm1", "xmm2", "xmm3");
        break;
    case Kind::store:
        asm volatile("movaps %%xmm4, (%0)\n\tmovaps %%xmm4, 16(%0)\n\tmovaps %%xmm4, 32(%0)\n\tmovaps %%xmm4, 48(%0)"
                     : : "r"(line) : "memory");
        break;
    case Kind::update:
        asm volatile("movaps (%0), %%xmm0\n\tmovaps %%xmm0, (%0)\n\tmovaps 16(%0), %%xmm1\n\tmovaps %%xmm1, 16(%0)\n\t"
                     "movaps 32(%0), %%xmm2\n\tmovaps %%xmm2, 32(%0)\n\tmovaps 48(%0), %%xmm3\n\tmovaps %%xmm3, 48(%0)"
                     : : "r"(line) : "xmm0", "xmm1", "xmm2", "xmm3", "memory");
        break;
    case Kind::past_caches:
        asm volatile("movntps %%xmm4, (%0)\n\tmovntps %%xmm4, 16(%0)\n\tmovntps %%xmm4, 32(%0)\n\t"
                     "movntps %%xmm4, 48(%0)" : : "r"(line) : "memory");
        break;
    }
}

#else

inline void touch(Kind kind, char* line) {
    auto* words = reinterpret_cast<volatile uint64_t*>(line);
    for (uint64_t i = 0; i < kLine / sizeof *words; ++i)
        if (kind == Kind::load)
            static_cast<void>(words[i]);
        else if (kind == Kind::update)
            words[i] = words[i];
        else
            words[i] = 0;
}

#endif

uint64_t moved_bytes(Kind kind) { return kind == Kind::store || kind == Kind::update ? 2 * kLine : kLine; }

bool pin(int cpu) {
    cpu_set_t* set = CPU_ALLOC(cpu + 1);
    const size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
    CPU_ZERO_S(bytes, set);
    CPU_SET_S(cpu, bytes, set);
    const bool is_done = sched_setaffinity(0, bytes, set) == 0;
    CPU_FREE(set);
    return is_done;
}

// The arrays of one NUMA node.
class NodeArrays {
  public:
    NodeArrays(size_t count, uint64_t bytes_each) : count_(count), each_(bytes_each), memory_(count * (each_ + kApart)) {}
    bool works() const { return static_cast<bool>(memory_); }
    char* array(size_t i) const { return memory_.data() + i * (each_ + kApart); }
    uint64_t each() const { return each_; }
    size_t count() const { return count_; }

  private:
    static constexpr uint64_t kApart = kPage + 17 * kLine; // not all at the same place of a page
    size_t count_;
    uint64_t each_;
    platform::AnonymousMemory memory_;
};

class Timing {
  public:
    Timing(std::vector<Kind> kinds, const std::vector<TimedCpu>& cpus, uint64_t each)
        : kinds_(std::move(kinds)), workers_(cpus.size()), gate_(static_cast<std::ptrdiff_t>(cpus.size()) + 1) {
        for (size_t i = 0; i < cpus.size(); ++i) {
            auto& arrays = nodes_[cpus[i].node];
            if (!arrays)
                arrays = std::make_unique<NodeArrays>(kinds_.size(), each);
            works_ = works_ && arrays->works();
            workers_[i].cpu = cpus[i].cpu;
            workers_[i].arrays = arrays.get();
            for (size_t other = 0; other < i; ++other)
                workers_[i].before += cpus[other].node == cpus[i].node;
        }
        bytes_ = nodes_.size() * kinds_.size() * each;
        active_ = static_cast<uint32_t>(cpus.size());
    }

    BandwidthTime run(uint64_t cache_bytes) {
        BandwidthTime time;
        if (!works_) {
            time.why_not = "memory for the measurement could not be allocated";
            return time;
        }
        std::vector<std::thread> threads;
        try {
            for (Worker& worker : workers_)
                threads.emplace_back([this, &worker] { work(worker); });
        } catch (const std::system_error&) { // those that wait at the gate are sent home
            quits_ = true;
            for (size_t missing = threads.size(); missing < workers_.size(); ++missing)
                gate_.arrive_and_drop();
            gate_.arrive_and_drop();
            for (std::thread& thread : threads)
                thread.join();
            time.why_not = "threads for the measurement could not be started";
            return time;
        }
        let_go(); // fill
        const uint64_t begin_ns = monotonic_ns();
        std::map<uint32_t, std::vector<double>> rates;
        for (int pass = 0; pass < kPasses; ++pass)
            for (const uint32_t count : thread_steps(static_cast<uint32_t>(workers_.size()))) {
                if (pass > 0 && monotonic_ns() - begin_ns > kMostTiming_ns)
                    continue;
                active_ = count;
                // What is in the caches must be what these threads have just passed by.
                cache_bytes_ = cache_bytes;
                let_go();
                cache_bytes_ = 0;
                for (int turn = 0; turn < kTurns; ++turn)
                    rates[count].push_back(let_go());
            }
        quits_ = true;
        gate_.arrive_and_wait();
        for (std::thread& thread : threads)
            thread.join();
        if (!pinned_) {
            time.why_not = "plumb is not allowed on the CPUs that the program used";
            return time;
        }
        time.bytes = bytes_;
        for (auto& [count, measured] : rates) {
            std::ranges::sort(measured);
            time.points.push_back({count, measured[measured.size() / 2], measured[measured.size() / 4],
                                   measured[measured.size() * 3 / 4]});
        }
        return time;
    }

  private:
    struct Worker {
        int cpu = 0;
        NodeArrays* arrays = nullptr;
        uint64_t before = 0; // workers of the same node that come before it
        double bytes_per_s = 0;
    };

    // One turn of all active workers: bytes a second.
    double let_go() {
        gate_.arrive_and_wait();
        gate_.arrive_and_wait();
        double sum = 0;
        for (uint32_t i = 0; i < active_; ++i)
            sum += workers_[i].bytes_per_s;
        return sum;
    }

    uint64_t active_on_node(const Worker& worker) const {
        return static_cast<uint64_t>(std::count_if(workers_.begin(), workers_.begin() + active_, [&](const Worker& other) {
            return other.arrays == worker.arrays;
        }));
    }

    void work(Worker& worker) {
        if (!pin(worker.cpu))
            pinned_ = false;
        for (bool is_filled = false;; is_filled = true) {
            gate_.arrive_and_wait();
            if (quits_)
                return;
            const auto number = static_cast<uint64_t>(&worker - workers_.data());
            if (number < active_) {
                const uint64_t sharers = active_on_node(worker), lines = worker.arrays->each() / kLine;
                const uint64_t from = lines * worker.before / sharers * kLine;
                const uint64_t to = lines * (worker.before + 1) / sharers * kLine;
                if (is_filled)
                    sweep(worker, from, to, sharers);
                else
                    for (size_t i = 0; i < worker.arrays->count(); ++i)
                        std::memset(worker.arrays->array(i) + from, 0, to - from);
            }
            gate_.arrive_and_wait();
        }
    }

    // Goes on where it was, if its part is still the same.
    void sweep(Worker& worker, uint64_t from, uint64_t to, uint64_t sharers) {
        uint64_t& at = place_of(worker);
        if (at < from || at >= to)
            at = from;
        const uint64_t least = cache_bytes_ / sharers, longest_ns = cache_bytes_ ? kLongestWarmUp_ns : kTurn_ns;
        uint64_t lines = 0, now = monotonic_ns();
        const uint64_t begin = now, begin_cpu_ns = thread_cpu_ns();
        while (now - begin < longest_ns && (least == 0 || lines * kLine * kinds_.size() < least)) {
            const uint64_t end = std::min(at + kPage, to);
            for (; at < end; at += kLine, ++lines)
                for (size_t i = 0; i < kinds_.size(); ++i)
                    touch(kinds_[i], worker.arrays->array(i) + at);
            if (at >= to)
                at = from;
            now = monotonic_ns();
        }
#if defined(__x86_64__)
        asm volatile("sfence" : : : "memory");
#endif
        uint64_t bytes = 0;
        for (const Kind kind : kinds_)
            bytes += lines * moved_bytes(kind);
        // While it was on the CPU: where others want it too, the program's threads are judged by that as well.
        worker.bytes_per_s =
            static_cast<double>(bytes) * 1e9 / static_cast<double>(std::max<uint64_t>(thread_cpu_ns() - begin_cpu_ns, 1));
    }

    uint64_t& place_of(const Worker& worker) { return places_[static_cast<size_t>(&worker - workers_.data())].at; }

    struct alignas(kLine) Place {
        uint64_t at = 0;
    };
    const std::vector<Kind> kinds_;
    std::vector<Worker> workers_;
    std::vector<Place> places_ = std::vector<Place>(workers_.size());
    std::map<int, std::unique_ptr<NodeArrays>> nodes_;
    std::barrier<> gate_;
    uint64_t bytes_ = 0, cache_bytes_ = 0; // cache_bytes_: a warm-up goes over so much
    std::atomic<uint32_t> active_ = 0;
    std::atomic<bool> pinned_ = true, quits_ = false;
    bool works_ = true;
};

} // namespace

StreamMix reduced(StreamMix mix, uint32_t most) {
    for (uint32_t StreamMix::* const kinds[] = {&StreamMix::loads, &StreamMix::stores, &StreamMix::updates,
                                                &StreamMix::past_caches};
         mix.arrays() > most;) {
        const auto largest = std::ranges::max_element(kinds, {}, [&](uint32_t StreamMix::* kind) { return mix.*kind; });
        if (mix.**largest <= 1)
            break;
        --(mix.**largest);
    }
    return mix;
}

std::vector<uint32_t> thread_steps(uint32_t most) {
    std::vector<uint32_t> steps;
    for (uint32_t power = 1; power <= most; power *= 2) {
        steps.push_back(power);
        if (power >= 2 && power + power / 2 <= most)
            steps.push_back(power + power / 2);
    }
    if (most > 0 && steps.back() != most)
        steps.push_back(most);
    return steps;
}

BandwidthTime time_bandwidth(const StreamMix& wanted, const std::vector<TimedCpu>& cpus, uint64_t bytes_each_node,
                             uint64_t most_bytes) {
    BandwidthTime time;
    const StreamMix mix = reduced(wanted, kMostArrays);
    std::vector<Kind> kinds;
    kinds.insert(kinds.end(), mix.loads, Kind::load);
    kinds.insert(kinds.end(), mix.stores, Kind::store);
    kinds.insert(kinds.end(), mix.updates, Kind::update);
    kinds.insert(kinds.end(), mix.past_caches, Kind::past_caches);
    std::map<int, int> nodes;
    for (const TimedCpu& cpu : cpus)
        ++nodes[cpu.node];
    if (kinds.empty() || cpus.empty())
        return time;
    if (bytes_each_node * nodes.size() > most_bytes) {
        time.why_not = "the measurement needs arrays larger than the caches, which would take more than a quarter of the free "
                       "memory";
        return time;
    }
    const uint64_t each = bytes_each_node / kinds.size() / kPage * kPage;
    if (each / kPage < cpus.size())
        return time;
    return Timing(std::move(kinds), cpus, each).run(bytes_each_node / 2);
}

} // namespace plumb::record
