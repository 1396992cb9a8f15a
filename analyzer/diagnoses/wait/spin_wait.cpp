// Threads that wait for others in a loop instead of leaving the CPU: for which variable, on which line, and what it costs.
#include "analyses/analyses.h"
#include "analyses/lines/line_shares.h"
#include "analyses/time/run_totals.h"
#include "analyses/time/thread_times.h"
#include "diagnoses/common/equal_work.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/task_names.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"
#include "diagnoses/wait/late_threads.h"
#include "diagnoses/wait/wait_replay.h"
#include "support/idle_share.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace plumb {

namespace {

constexpr size_t kMostSpins = 3, kMostThreads = 8;

// Threads more than CPUs, on average: less is those that begin and end.
constexpr double kShortOf = 0.25;

// Process, and the variable's address; where that is not known or not always the same, the loop's.
using Key = std::tuple<uint32_t, bool, uint64_t>;

// As the source has it: "lock.taken", not "lock.taken._M_base._M_i" of an std::atomic.
std::string variable_name(const model::DataName& named) {
    const std::string& whole = named.expression.empty() ? named.name : named.expression;
    return whole.substr(0, whole.find("._M_"));
}

struct Spin {
    std::map<uint32_t, double> threads; // CPU seconds of those that the run may wait for
    std::map<uint32_t, double> wall_ns; // of the same
    std::map<uint32_t, double> idle;    // CPU seconds of those that spin nearly all their life
    uint64_t samples = 0;
    bool pauses = true; // all loops do, or yield
    bool yields = true; // all loops do
    LineShares lines;

    static double sum(const std::map<uint32_t, double>& threads) {
        double seconds = 0;
        for (const auto& [thread, cpu_s] : threads)
            seconds += cpu_s;
        return seconds;
    }
    double wall_s(const WaitReplay& replay) const { return sum(wall_ns) * replay.wall_scale(); }
    double cpu_s() const { return sum(threads) + sum(idle); }
};

class SpinWait : public Diagnosis {
  public:
    const char* id() const override { return "spin-wait"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const WaitReplay replay(input.paths);
        const RunTotals totals = totals_of(input.run);
        std::vector<std::pair<Key, Spin>> order;
        for (auto& [key, spin] : spins_of(input.paths, input.analyses.spinning))
            if (totals.cpu_s > 0 && is_known_well(spin.samples, spin.cpu_s() / totals.cpu_s))
                order.emplace_back(key, std::move(spin));
        std::ranges::stable_sort(order, std::greater<>(), [](const auto& entry) { return entry.second.cpu_s(); });
        order.resize(std::min(order.size(), kMostSpins));
        std::vector<Finding> findings;
        for (const auto& [key, spin] : order)
            findings.push_back(finding_of(input, replay, totals, key, spin));
        return findings;
    }

  private:
    static std::map<Key, Spin> spins_of(model::CallPaths& paths, const std::vector<Spinning>& all) {
        std::map<std::pair<uint32_t, uint32_t>, double> by_thread;
        for (const Spinning& part : all)
            by_thread[{part.process, part.thread}] += part.cpu_s;
        std::map<Key, Spin> spins;
        for (const Spinning& part : all) {
            const model::Process& process = paths.run().processes[part.process];
            const model::Thread& thread = process.threads[part.thread];
            const bool idles = part.thread != 0 && thread.tid != process.pid &&
                               is_idle(by_thread[{part.process, part.thread}], thread_times(thread).life_s());
            const bool is_known = part.loop->address != 0;
            Spin& spin = spins[{part.process, is_known, is_known ? part.loop->address : part.loop->begin}];
            (idles ? spin.idle : spin.threads)[part.thread] += part.cpu_s;
            if (!idles)
                spin.wall_ns[part.thread] += part.wall_ns;
            spin.samples += part.samples;
            spin.pauses &= part.loop->pauses || part.loop->yield_return != 0;
            spin.yields &= part.loop->yield_return != 0;
            spin.lines.add(paths.user_frame(part.process, part.path), part.cpu_s);
        }
        return spins;
    }

    // Threads that began with the same function as those that spin, these included.
    static std::set<uint32_t> pool_of(model::CallPaths& paths, uint32_t process, const Spin& spin) {
        std::set<std::string> works;
        std::set<uint32_t> pool;
        for (const auto& [thread, cpu_s] : spin.threads) {
            works.insert(work_of(paths, process, thread));
            pool.insert(thread);
        }
        works.erase("");
        for (uint32_t thread = 0; thread < paths.run().processes[process].threads.size(); ++thread)
            if (!spin.idle.contains(thread) && works.contains(work_of(paths, process, thread)))
                pool.insert(thread);
        return pool;
    }

    // CPU seconds of each thread of the pool, beside spinning.
    static std::vector<double> works_s(const model::Process& process, const std::set<uint32_t>& pool, const Spin& spin) {
        std::vector<double> works;
        for (const uint32_t thread : pool) {
            const auto spins = spin.threads.find(thread);
            works.push_back(std::max(0.0, thread_times(process.threads[thread]).run_s - (spins == spin.threads.end() ? 0 : spins->second)));
        }
        return works;
    }

    // Of the mean work of the pool's threads, what may be chance: one works longer than another now and then, of which the means of the
    // whole run need not show anything.
    static double chance_s(const std::vector<double>& works_s) {
        if (works_s.size() < 2)
            return 0;
        return kEqualWorkDiffers * std::reduce(works_s.begin(), works_s.end()) / static_cast<double>(works_s.size());
    }

    // If all threads of the pool had the same share of what they do beside spinning.
    // `most_s`: what of the spinning may end, all threads together. `chance_s`: what a share may be larger without being unequal.
    static double saved_by_sharing_s(const std::vector<double>& works_s, double most_s, double chance_s) {
        if (works_s.size() < 2)
            return 0;
        const auto members = static_cast<double>(works_s.size());
        const double mean_s = std::reduce(works_s.begin(), works_s.end()) / members;
        return std::clamp(*std::ranges::max_element(works_s) - mean_s - chance_s, 0.0, most_s / members);
    }

    // What is left if each thread spun all the time in which others of its process had no CPU. Nothing tells when that was.
    static Spin certain_part(const model::Process& process, const Spin& spin) {
        double no_cpu_s = 0;
        for (const model::Thread& thread : process.threads)
            no_cpu_s += thread_times(thread).no_cpu_s;
        Spin part = spin;
        for (auto& [thread, cpu_s] : part.threads) {
            const double others_s = no_cpu_s - thread_times(process.threads[thread]).no_cpu_s;
            const double left_s = std::max(0.0, cpu_s - others_s);
            part.wall_ns[thread] *= cpu_s > 0 ? left_s / cpu_s : 0;
            cpu_s = left_s;
        }
        return part;
    }

    // Wall seconds of the run if nobody spun for it. Where the run itself has more threads than there are CPUs, spinning takes
    // CPUs away from the others, and that ends, too.
    static double without_s(const model::Run& run, const WaitReplay& replay, const RunTotals& totals, uint32_t process,
                            const Spin& spin) {
        WaitReplay::Removed removed;
        for (const auto& [thread, cpu_s] : spin.threads)
            removed[{process, thread}] = cpu_s;
        double wall_s = spin.wall_s(replay);
        if (is_short_of_cpus(totals)) {
            double no_cpu_ns = 0;
            for (const model::Process& other : run.processes)
                for (const model::Thread& thread : other.threads)
                    no_cpu_ns += static_cast<double>(thread.wall_no_cpu_ns);
            const double freed_s = Spin::sum(spin.threads) / static_cast<double>(std::max<size_t>(totals.usable_cpus, 1));
            wall_s += std::min(std::max(0.0, freed_s - wall_s), no_cpu_ns * replay.wall_scale());
        }
        const double replayed_s = replay.without(wall_s, [](const Wait&) { return false; }, removed);
        return std::max(replayed_s, replay.wall_s() - most_saved_s(run, replay, totals, process, spin));
    }

    // During the life of a thread, the run gets no shorter than what that thread does. The rest of the run has its share of the
    // spinning, which is taken to be spread evenly.
    static double most_saved_s(const model::Run& run, const WaitReplay& replay, const RunTotals& totals, uint32_t process,
                               const Spin& spin) {
        double most_s = replay.wall_s();
        const std::vector<model::Thread>& threads = run.processes[process].threads;
        for (uint32_t thread = 0; thread < threads.size(); ++thread) {
            const ThreadTimes times = thread_times(threads[thread]);
            const auto spins = spin.threads.find(thread);
            const double slack_s = times.blocked_s + (spins == spin.threads.end() ? 0 : spins->second) +
                                   (is_short_of_cpus(totals) ? times.no_cpu_s : 0);
            const double outside = std::clamp(1 - times.life_s() / replay.wall_s(), 0.0, 1.0);
            most_s = std::min(most_s, slack_s + outside * Spin::sum(spin.threads));
        }
        return most_s;
    }

    static bool is_short_of_cpus(const RunTotals& totals) {
        return totals.concurrency > static_cast<double>(totals.usable_cpus) + kShortOf;
    }

    Finding finding_of(const DiagnosisInput& input, const WaitReplay& replay, const RunTotals& totals, const Key& key,
                       const Spin& spin) const {
        const uint32_t index = std::get<0>(key);
        const bool is_known = std::get<1>(key);
        const uint64_t address = std::get<2>(key);
        const model::Process& process = input.run.processes[index];
        model::DataAccess access;
        access.address = address;
        const auto named = is_known ? input.paths.static_at(index, access) : std::nullopt;
        const size_t count = spin.threads.size() + spin.idle.size();
        const double wall_s = replay.wall_s();
        const bool is_idle_only = spin.threads.empty();
        Finding finding;
        finding.id = id();
        finding.confidence = 0.8;
        finding.where = spin.lines.heaviest(kMostLines);
        finding.title = fmt::format("{} for {}", count == 1 ? "A thread spins" : fmt::format("{} threads spin", count),
                                    named ? "`" + variable_name(*named) + "`" : count == 1 ? "another thread" : "other threads");
        if (!finding.where.empty())
            finding.title += ", at " + place_name(finding.where[0]);
        const std::set<uint32_t> pool = pool_of(input.paths, index, spin);
        const double each_s = Spin::sum(spin.threads) / static_cast<double>(std::max<size_t>(pool.size(), 1));
        const std::vector<double> works = works_s(process, pool, spin);
        const double shared_s = saved_by_sharing_s(works, Spin::sum(spin.threads), 0);
        const bool is_unequal = shared_s > each_s / 2; // that is why most of the spinning is done
        if (!is_idle_only) {
            // At a barrier of n threads, each second that one of them waits is 1/n second that all could have been earlier.
            finding.cost.seconds = std::min(wall_s, is_unequal ? each_s : std::max(spin.wall_s(replay), each_s));
            finding.cost.fraction = std::min(1.0, finding.cost.seconds / wall_s);
            const Spin certain = is_short_of_cpus(totals) ? spin : certain_part(process, spin);
            const auto saved_s = [&](const Spin& part) { return wall_s - without_s(input.run, replay, totals, index, part); };
            finding.gain = is_unequal ? Gain{shared_s / wall_s, "if all threads of the pool had the same share of the work",
                                             saved_by_sharing_s(works, Spin::sum(certain.threads), chance_s(works)) / wall_s}
                                      : Gain{saved_s(spin) / wall_s,
                                             "the run without waiting in this loop; bound by the longest thread's own time and by "
                                             "the CPUs; what these threads need of one another's work before they can go on was "
                                             "not seen", std::max(0.0, saved_s(certain) - chance_s(works)) / wall_s};
        } else {
            finding.fixed_severity = Severity::info;
            finding.gain = {0, "no other thread waits for one that spins nearly all its life"};
        }
        finding.subject.kind = named ? "variable" : "loop";
        finding.subject.name = named ? named->name : finding.where.empty() ? fmt::format("{:#x}", address) : place_name(finding.where[0]);
        finding.subject.details["process"] = process.name;
        finding.evidence["spinning_cpu_seconds"] = spin.cpu_s();
        finding.evidence["spinning_cpu_fraction"] = std::min(1.0, spin.cpu_s() / totals.cpu_s);
        finding.evidence["spinning_thread_count"] = static_cast<int64_t>(count);
        finding.evidence["spinning_threads"] = names_of(input.run, index, spin);
        finding.evidence["sample_count"] = static_cast<int64_t>(spin.samples);
        if (is_short_of_cpus(totals))
            finding.evidence["runnable_threads"] = totals.concurrency;
        add_advice(finding, spin, is_unequal, totals);
        note_unplaced(spin.lines, input.run, finding);
        return finding;
    }

    static std::vector<std::string> names_of(const model::Run& run, uint32_t process, const Spin& spin) {
        std::vector<std::pair<double, uint32_t>> order;
        for (const auto* threads : {&spin.threads, &spin.idle})
            for (const auto& [thread, cpu_s] : *threads)
                order.emplace_back(cpu_s, thread);
        std::ranges::sort(order, std::greater<>());
        std::vector<std::string> names;
        for (const auto& [cpu_s, thread] : order)
            if (names.size() < kMostThreads)
                names.push_back(fmt::format("{}: {:.3g} s", task_name(run, {process, thread}), cpu_s));
        return names;
    }

    static void add_advice(Finding& finding, const Spin& spin, bool is_unequal, const RunTotals& totals) {
        if (spin.threads.empty()) {
            finding.advice.push_back({"Let it sleep until there is work, if its CPU is needed",
                                      "a condition variable or a semaphore frees the CPU; a thread that must answer within "
                                      "microseconds may go on spinning on a CPU of its own", "code", ""});
            return;
        }
        if (is_short_of_cpus(totals))
            finding.advice.push_back({"Let waiting threads sleep",
                                      fmt::format("about {:.1f} threads want to run on {} CPUs: each one that spins takes CPU time from "
                                                  "those it waits for; a mutex, a condition variable or a barrier of the library "
                                                  "frees the CPU", totals.concurrency, totals.usable_cpus), "code", ""});
        if (is_unequal)
            finding.advice.push_back({"Divide the work by its cost, not by its count",
                                      "the others spin until the slowest thread is there: let each thread take the next small "
                                      "piece from a common counter when it is done with one", "code", ""});
        else
            finding.advice.push_back({"Make the others wait for less",
                                      "compute outside of the critical section, and only store the result in it; hand work over in "
                                      "larger pieces, and begin the next piece before the last one is fetched", "code", ""});
        if (!is_short_of_cpus(totals))
            finding.advice.push_back({"Spin only for short waits",
                                      std::string("a lock or condition of the library lets a thread sleep when the wait is long") +
                                          (spin.yields   ? "; a thread that only yields goes on taking the CPU, and most of that "
                                                           "in the kernel, whenever no other one wants it"
                                           : spin.pauses ? "" : "; the loop does not pause: without a pause instruction and growing "
                                                              "gaps, it slows down the thread that it waits for"), "code", ""});
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_spin_wait() { return std::make_unique<SpinWait>(); }

} // namespace plumb
