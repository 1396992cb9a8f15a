#include "probe/measure/measure_machine.h"

#include "platform/cpu_paths.h"
#include "platform/node_stat.h"
#include "probe/measure/crew.h"
#include "probe/measure/disk.h"
#include "probe/measure/handover.h"
#include "probe/measure/machine_facts.h"
#include "probe/measure/plan.h"
#include "probe/measure/probe_memory.h"
#include "probe/measure/turns.h"
#include "record/calibrate/bandwidth_timing.h"
#include "record/noise/measured_cpus.h"
#include "record/run/node_trace_writer.h"
#include "support/error.h"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <optional>
#include <unistd.h>

namespace plumb::probe {

namespace {

constexpr uint64_t kShortTurn_ns = 10'000'000; // clock, handing over lines
constexpr double kShareOfPairs = 0.3;          // of the time
constexpr double kLeastShare = 0.7;            // of a turn that a thread must have had its CPU for, to say something of a pair
constexpr size_t kMostNodeTests = 64, kMostOpenFiles = 256;
constexpr double kHugeEnough = 0.9;
constexpr size_t kRoundsInSamePages = 6; // of some 90 in a minute: in each eighth of them, which spread_of_series compares, are other pages
constexpr double kMostOvertime = 3;

double now_s() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

bool had_its_cpu(const Turn& turn) { return turn.is_measured() && turn.cpu_ns >= kLeastShare * turn.wall_ns; }

double slowdown_of(const Turn& together, const Turn& alone) { return together.cpu_of_one_ns() / alone.cpu_of_one_ns(); }

std::vector<int> cpus_of(const ProbeOptions& options) {
    const auto configured = static_cast<int>(sysconf(_SC_NPROCESSORS_CONF));
    std::vector<int> cpus = record::measured_cpus(options.cpus, record::usable_cpus(false), configured);
    if (cpus.empty())
        throw Error("the kernel does not say which CPUs this process may use; name them with --cpus");
    return cpus;
}

} // namespace

class Prober::Session {
  public:
    Session(const ProbeOptions& options, EndSignals& signals)
        : options_(options), signals_(signals), cpus_(cpus_of(options)),
          paths_(platform::read_cpu_paths("", cpus_)), crew_(cpus_), memory_(crew_, paths_, options.is_short) {
        waves_ = waves_of(paths_);
        plan();
        if (!options.is_short)
            disk_.emplace(options.folder);
    }

    Measured measure(const std::function<void(double)>& progress) {
        begin();
        const uint64_t begin_ns = record::monotonic_ns();
        const auto passed_s = [&] { return static_cast<double>(record::monotonic_ns() - begin_ns) * 1e-9; };
        while (true) {
            if (!round())
                break;
            ++result_.rounds;
            if (progress)
                progress(passed_s() / options_.time_s);
            look_at_others();
            // Another round that would end far beyond the time is not begun, unless others take so much of the CPUs that there
            // are too few for any verdict.
            const double until_s = result_.rounds < rounds_ ? kMostOvertime * options_.time_s : options_.time_s;
            if (passed_s() * (1 + 0.5 / static_cast<double>(result_.rounds)) >= until_s)
                break;
        }
        end();
        return std::move(result_);
    }

  private:
    struct Slice { // of an arena, for one copy
        size_t member = 0;
        const char* data = nullptr;
        uint64_t bytes = 0, offset = 0;
    };

    void plan() {
        const size_t alone = waves_.size() * kCpuTests, comparisons = cpus_.size() * kCpuTests;
        const size_t rounds = rounds_ = rounds_needed(comparisons);
        if (options_.is_short) {
            turn_ns_ = turn_length_ns(options_.time_s, alone, rounds);
            return;
        }
        steps_ = record::thread_steps(static_cast<uint32_t>(cpus_.size()));
        const size_t others = steps_.size() * 2 + 6;
        turn_ns_ = turn_length_ns((1 - kShareOfPairs) * options_.time_s, alone + others, rounds);
        const double pair_s = static_cast<double>(2 * turn_ns_ + std::min(turn_ns_, kShortTurn_ns)) * 1e-9;
        const double most = kShareOfPairs * options_.time_s / (pair_s * static_cast<double>(rounds));
        const PairPlan pairs = pairs_of(paths_, std::max<size_t>(1, static_cast<size_t>(most)));
        pairs_ = pairs.pairs;
        pairs_left_out_ = pairs.left_out;
    }

    void begin() {
        result_ = {};
        result_.machine = machine_facts("", cpus_[0]);
        result_.begin_s = now_s();
        result_.turn_ns = turn_ns_;
        result_.rounds_needed = rounds_;
        result_.pairs_left_out = pairs_left_out_;
        result_.arena_bytes = static_cast<double>(memory_.at(0).arena->bytes());
        for (const int cpu : cpus_)
            result_.cpus.push_back({cpu, {}});
        for (const auto& [first, second] : pairs_)
            result_.pairs.push_back({cpus_[first], cpus_[second], {}, {}, {}});
        for (const uint32_t count : steps_)
            result_.copies.push_back({count, {}, {}});
        times_ = platform::read_cpu_times("/proc");
        users_.emplace("/proc", static_cast<uint32_t>(getpid()), kMostOpenFiles);
        users_->look();
        uses_.clear();
    }

    void end() {
        result_.took_s = now_s() - result_.begin_s;
        result_.signal = signals_.come();
        look_at_others();
        for (auto& [tid, use] : uses_)
            result_.others.push_back(use);
        std::ranges::sort(result_.others, std::greater<>{}, &record::CpuUse::run_ns);
        for (const auto& [cpu, times] : platform::read_cpu_times("/proc"))
            if (const auto before = times_.find(cpu); before != times_.end() && result_.took_s > 0)
                result_.stolen_share[cpu] =
                    static_cast<double>(times.steal_ns - before->second.steal_ns) / result_.took_s * 1e-9;
        if (disk_)
            result_.disk = disk_->turns;
    }

    void look_at_others() {
        for (const record::CpuUse& use : users_->look()) {
            record::CpuUse& sum = uses_[use.tid];
            const uint64_t before_ns = sum.run_ns;
            sum = use;
            sum.run_ns += before_ns;
        }
    }

    // False: a signal ended it in the middle.
    bool round() {
        const auto goes_on = [this] { return signals_.come() == 0; };
        for (size_t test = 0; test < kCpuTests; ++test)
            for (size_t wave = 0; wave < waves_.size(); ++wave) {
                if (!goes_on())
                    return false;
                // No CPU and no test is always the first: what others do then is not what they do later.
                measure_alone(kAllCpuTests[(test + result_.rounds) % kCpuTests],
                              waves_[(wave + result_.rounds) % waves_.size()]);
            }
        if (options_.is_short)
            return true;
        for (size_t step = 0; step < steps_.size() && goes_on(); ++step)
            measure_copies(steps_[step], result_.copies[step]);
        for (size_t pair = 0; pair < pairs_.size() && goes_on(); ++pair)
            measure_pair(pairs_[pair].first, pairs_[pair].second, result_.pairs[pair]);
        if (goes_on())
            measure_nodes();
        if (goes_on())
            measure_pages_and_clock();
        if (goes_on())
            disk_->round();
        return goes_on();
    }

    Turn turn_of(CpuTest test, size_t member) {
        MemberMemory& memory = memory_.at(member);
        switch (test) {
        case CpuTest::compute: return compute_turn(turn_ns_);
        case CpuTest::cache: return follow_from(*memory.ring, turn_ns_);
        case CpuTest::latency: return follow_from(*memory.arena, turn_ns_);
        case CpuTest::bandwidth: return read_turn(memory.arena->data(), memory.arena->bytes(), memory.read_offset, turn_ns_);
        case CpuTest::clock: break;
        }
        return clock_turn(std::min(turn_ns_, kShortTurn_ns));
    }

    static Turn follow_from(Arena& arena, uint64_t length_ns) {
        void** place = arena.ring_place();
        const Turn turn = follow_turn(place, length_ns);
        arena.set_ring_place(place);
        return turn;
    }

    void measure_alone(CpuTest test, const std::vector<size_t>& wave) {
        std::vector<Crew::Order> orders;
        for (const size_t member : wave)
            orders.push_back({member, [this, test, member] {
                auto& turns = result_.cpus[member].turns[static_cast<size_t>(test)];
                turns.resize(result_.rounds + 1);
                turns.back() = turn_of(test, member);
            }});
        crew_.run(orders);
    }

    const Turn& alone(CpuTest test, size_t member) const { return result_.cpus[member].of(test).back(); }

    std::vector<Turn> read_together(const std::vector<size_t>& members) {
        std::vector<Slice> slices;
        std::map<Arena*, uint64_t> sharers, before;
        for (const size_t member : members)
            ++sharers[memory_.at(member).arena];
        for (const size_t member : members) {
            Arena* const arena = memory_.at(member).arena;
            const uint64_t bytes = arena->bytes() / sharers[arena] / 4096 * 4096;
            slices.push_back({member, arena->data() + before[arena]++ * bytes, bytes, 0});
        }
        std::vector<Turn> turns(members.size());
        std::vector<Crew::Order> orders;
        for (size_t i = 0; i < slices.size(); ++i)
            orders.push_back({slices[i].member, [this, &turns, &slice = slices[i], i] {
                turns[i] = read_turn(slice.data, slice.bytes, slice.offset, turn_ns_);
            }});
        crew_.run(orders);
        return turns;
    }

    std::vector<Turn> compute_together(const std::vector<size_t>& members) {
        std::vector<Turn> turns(members.size());
        std::vector<Crew::Order> orders;
        for (size_t i = 0; i < members.size(); ++i)
            orders.push_back({members[i], [this, &turns, i] { turns[i] = compute_turn(turn_ns_); }});
        crew_.run(orders);
        return turns;
    }

    // The mean slowdown of those that had their CPUs, both alone and now; NaN: not all had.
    double mean_slowdown(CpuTest test, const std::vector<size_t>& members, const std::vector<Turn>& together) const {
        double sum = 0;
        for (size_t i = 0; i < members.size(); ++i) {
            const Turn& own = alone(test, members[i]);
            sum += had_its_cpu(own) && had_its_cpu(together[i]) ? slowdown_of(together[i], own) : kNotMeasured;
        }
        return sum / static_cast<double>(members.size());
    }

    void measure_copies(uint32_t count, CopyTurns& copies) {
        std::vector<size_t> members;
        const auto order = platform::spread(paths_);
        for (uint32_t i = 0; i < count; ++i)
            members.push_back(static_cast<size_t>(std::ranges::find(cpus_, order[i].cpu) - cpus_.begin()));
        const std::vector<Turn> reads = read_together(members);
        double rate = 0;
        for (const Turn& turn : reads)
            rate += 1e9 / turn.wall_of_one_ns();
        copies.bytes_per_s.push_back(rate);
        if (const double slowdown = mean_slowdown(CpuTest::compute, members, compute_together(members)); slowdown > 0)
            copies.compute_slowdown.push_back(slowdown);
    }

    void measure_pair(size_t first, size_t second, PairTurns& pair) {
        const std::vector<size_t> members{first, second};
        Handover& handover = handover_lines_.draw();
        const uint64_t length_ns = std::min(turn_ns_, kShortTurn_ns);
        double ns = kNotMeasured;
        crew_.run({{first, [&] { ns = handover.ask(length_ns); }}, {second, [&] { handover.answer(length_ns); }}});
        if (ns > 0)
            pair.handover_ns.push_back(ns);
        if (const double slowdown = mean_slowdown(CpuTest::compute, members, compute_together(members)); slowdown > 0)
            pair.compute_slowdown.push_back(slowdown);
        if (const double slowdown = mean_slowdown(CpuTest::bandwidth, members, read_together(members)); slowdown > 0)
            pair.read_slowdown.push_back(slowdown);
    }

    // From the first CPU of each node to the memory of each.
    void measure_nodes() {
        if (memory_.of_nodes().size() < 2)
            return;
        size_t at = 0;
        std::map<int, size_t> first_cpus;
        for (size_t i = 0; i < cpus_.size(); ++i)
            first_cpus.try_emplace(paths_[i].node, i);
        for (const auto& [cpu_node, member] : first_cpus)
            for (const auto& [memory_node, arena] : memory_.of_nodes()) {
                if (at == kMostNodeTests)
                    return;
                if (at == result_.nodes.size())
                    result_.nodes.push_back({cpus_[member], cpu_node, memory_node, {}});
                Turn turn;
                crew_.run({{member, [&, to = arena] { turn = follow_from(*to, turn_ns_); }}});
                result_.nodes[at++].latency_ns.push_back(turn.cpu_of_one_ns());
            }
    }

    void measure_pages_and_clock() {
        Turn small, huge;
        double read_ns = 0, stamps = 0;
        Arena& arena = *memory_.at(0).arena;
        crew_.run({{0, [&] {
            if (result_.rounds % kRoundsInSamePages == kRoundsInSamePages - 1)
                memory_.move_small_pages();
            small = follow_from(*memory_.small_pages(), turn_ns_);
            huge = follow_from(arena, turn_ns_);
            read_ns = clock_read_ns();
            stamps = time_stamps_per_s(kShortTurn_ns);
        }}});
        if (result_.rounds == 0) {
            result_.pages.huge_share = arena.huge_share();
            if (result_.pages.huge_share < kHugeEnough)
                result_.pages.why_not = fmt::format("the kernel gave huge pages for {:.0f} % of the memory only",
                                                    100 * result_.pages.huge_share);
        }
        result_.pages.small_ns.push_back(small.cpu_of_one_ns());
        result_.pages.huge_ns.push_back(huge.cpu_of_one_ns());
        result_.clock_read_ns.push_back(read_ns);
        if (stamps > 0)
            result_.tsc_hz.push_back(stamps);
    }

    const ProbeOptions options_;
    EndSignals& signals_;
    const std::vector<int> cpus_;
    const std::vector<platform::CpuPath> paths_;
    Crew crew_;
    ProbeMemory memory_;
    HandoverLines handover_lines_;
    std::vector<std::vector<size_t>> waves_;
    std::vector<uint32_t> steps_;
    std::vector<std::pair<size_t, size_t>> pairs_;
    size_t pairs_left_out_ = 0, rounds_ = 0; // rounds_: that verdicts need
    uint64_t turn_ns_ = kTurn_ns;
    std::optional<Disk> disk_;
    std::optional<record::CpuUsers> users_;
    std::map<uint32_t, record::CpuUse> uses_; // by thread
    std::map<int, platform::CpuTimes> times_;
    Measured result_;
};

Prober::Prober(const ProbeOptions& options, EndSignals& signals) : session_(std::make_unique<Session>(options, signals)) {}
Prober::~Prober() = default;
Measured Prober::measure(const std::function<void(double)>& progress) { return session_->measure(progress); }

} // namespace plumb::probe
