// Threads that wait for a lock: which one, who holds it meanwhile, and what the holder does with it.
#include "analyses/lines/line_shares.h"
#include "analyses/memory/memory_names.h"
#include "analyses/time/kernel_cause.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"
#include "diagnoses/wait/wait_replay.h"
#include "model/source_line.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

namespace plumb {

namespace {

constexpr size_t kMostLocks = 3;
constexpr const char* kLacksCpu = "waiting for a CPU";

struct Lock {
    double waiting_s = 0; // of all threads
    double wall_s = 0;    // of it, what the run's wall time depended on
    uint64_t looks = 0;
    std::set<uint32_t> waiters, holders; // threads
    std::set<model::SourceLine> lines; // where they wait
    WaitReplay::Removed kernel_of;     // CPU seconds of the system call futex at these lines, by thread
    double kernel_s = 0;               // of them all
    LineShares waiter_lines, holder_lines;
    std::map<std::string, double> holder_does; // in words; by time
    double holder_s = 0, holder_known_s = 0, holder_blocked_s = 0, holder_device_s = 0;
};

using LockKey = std::pair<uint32_t, uint64_t>; // process, address

class LockWait : public Diagnosis {
  public:
    const char* id() const override { return "lock-wait"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const WaitReplay replay(input.paths);
        std::vector<std::pair<LockKey, Lock>> order;
        for (auto& [key, lock] : locks_of(input.paths, replay))
            if (is_known_well(lock.looks, lock.wall_s / replay.wall_s()))
                order.emplace_back(key, std::move(lock));
        std::ranges::stable_sort(order, std::greater<>(), [](const auto& entry) { return entry.second.wall_s; });
        order.resize(std::min(order.size(), kMostLocks));
        const RunTotals totals = totals_of(input.run);
        add_kernel_time(input.paths, totals, order);
        std::vector<Finding> findings;
        for (const auto& [key, lock] : order)
            findings.push_back(finding_of(input, totals, replay, key, lock));
        return findings;
    }

  private:
    // Only locks with a known holder: without one it is not known what makes the others wait. Locks that do not say who holds them
    // (Rust's) are held by the thread that ran meanwhile, where there are no more than the two.
    static std::map<LockKey, Lock> locks_of(model::CallPaths& paths, const WaitReplay& replay) {
        std::map<LockKey, Lock> locks;
        const std::vector<model::Process>& processes = paths.run().processes;
        for (uint32_t process = 0; process < processes.size(); ++process)
            for (const model::LockHolder& holder : processes[process].lock_holders)
                add_holder(paths, replay, process, holder, locks[{process, holder.object}]);
        std::map<LockKey, Lock> silent = silent_locks_of(paths, replay, locks);
        locks.merge(silent);
        for (const Wait& wait : replay.waits())
            if (const auto found = locks.find({wait.process, wait.site->object});
                found != locks.end() && wait.what.kind == WaitKind::lock) {
                Lock& lock = found->second;
                lock.waiting_s += wait.seconds;
                lock.looks += wait.site->looks;
                lock.waiters.insert(wait.site->thread);
                const model::SourceFrame frame = paths.user_frame(wait.process, wait.site->path);
                lock.waiter_lines.add(frame, wait.seconds);
                lock.lines.insert(model::source_line(frame));
            }
        return locks;
    }

    // What putting threads to sleep and waking them takes goes with the wait. At a line that waits for several locks it counts
    // for the first of `locks`.
    static void add_kernel_time(model::CallPaths& paths, const RunTotals& totals, std::vector<std::pair<LockKey, Lock>>& locks) {
        if (totals.samples == 0)
            return;
        const double sample_s = totals.cpu_s / static_cast<double>(totals.samples);
        std::set<uint32_t> seen;
        for (const auto& [key, lock] : locks)
            if (seen.insert(key.first).second)
                for (const model::SampleSite& site : paths.run().processes[key.first].samples)
                    if (site.kernel_samples > 0)
                        add_kernel_sample(paths, key.first, site, sample_s, locks);
    }

    static void add_kernel_sample(model::CallPaths& paths, uint32_t process, const model::SampleSite& site, double sample_s,
                                  std::vector<std::pair<LockKey, Lock>>& locks) {
        const KernelCause cause = kernel_cause_of(paths, process, site.path);
        if (cause.kind != KernelCause::Kind::system_call || cause.name != "futex")
            return;
        const model::SourceLine line = model::source_line(paths.user_frame(process, site.path));
        const double seconds = sample_s * static_cast<double>(std::min(site.kernel_samples, site.samples));
        for (auto& [key, lock] : locks)
            if (key.first == process && lock.lines.contains(line)) {
                lock.kernel_of[{process, site.thread}] += seconds;
                lock.kernel_s += seconds;
                return;
            }
    }

    static std::map<LockKey, Lock> silent_locks_of(model::CallPaths& paths, const WaitReplay& replay,
                                                   const std::map<LockKey, Lock>& known) {
        std::set<std::tuple<uint32_t, uint32_t, uint32_t, uint64_t>> waits; // process, thread, path, object
        std::map<LockKey, std::set<uint32_t>> users;
        for (const Wait& wait : replay.waits())
            if (wait.what.kind == WaitKind::lock && wait.what.runtime == RuntimeLock::none && wait.site->object != 0 && !known.contains({wait.process, wait.site->object})) {
                waits.insert({wait.process, wait.site->thread, wait.site->path, wait.site->object});
                users[{wait.process, wait.site->object}].insert(wait.site->thread);
            }
        std::map<LockKey, Lock> locks;
        const std::vector<model::Process>& processes = paths.run().processes;
        for (const bool adds : {false, true})
            for (uint32_t process = 0; process < processes.size() && !waits.empty(); ++process)
                for (const model::WaitedFor& waited : processes[process].waited_for) {
                    const LockKey key{process, waited.object};
                    if (waited.relation != model::WaitedFor::Relation::work || waited.peer_process != process ||
                        !waits.contains({process, waited.thread, waited.path, waited.object}))
                        continue;
                    if (!adds)
                        users[key].insert(waited.peer_thread);
                    else if (users[key].size() == 2)
                        add_holder(paths, replay, process,
                                   {.thread = waited.thread, .path = waited.path, .object = waited.object,
                                    .holder = waited.peer_thread, .holder_path = waited.peer_path, .holder_call = waited.peer_call,
                                    .holder_lacks_cpu = false, .looks = waited.looks, .time_ns = waited.time_ns,
                                    .wall_ns = waited.wall_ns},
                                   locks[key]);
                }
        return locks;
    }

    static void add_holder(model::CallPaths& paths, const WaitReplay& replay, uint32_t process,
                           const model::LockHolder& holder, Lock& lock) {
        const auto time_s = static_cast<double>(holder.time_ns) * 1e-9;
        lock.wall_s += static_cast<double>(holder.wall_ns) * replay.wall_scale();
        lock.holders.insert(holder.holder);
        lock.holder_s += time_s;
        if (holder.holder_path != 0)
            lock.holder_lines.add(paths.user_frame(process, holder.holder_path), time_s);
        else if (!holder.holder_lacks_cpu)
            return;
        lock.holder_known_s += time_s;
        if (holder.holder_call < 0) {
            lock.holder_does[holder.holder_lacks_cpu ? kLacksCpu : "computing"] += time_s;
            return;
        }
        const model::BlockedSite blocked{.thread = holder.holder, .path = holder.holder_path, .system_call = holder.holder_call,
                                         .descriptor = {}};
        const WaitClass what = wait_class_of(paths, process, blocked);
        lock.holder_does[what.kind == WaitKind::sleep ? "a sleep" : what.what] += time_s;
        lock.holder_blocked_s += time_s;
        lock.holder_device_s += what.kind == WaitKind::file || what.kind == WaitKind::file_sync ? time_s : 0;
    }

    Finding finding_of(const DiagnosisInput& input, const RunTotals& totals, const WaitReplay& replay, const LockKey& key, const Lock& lock) const {
        const model::Process& process = input.run.processes[key.first];
        const auto named = input.paths.static_at(key.first, {.address = key.second, .code = {}});
        const std::string object = named ? "`" + named->name + "`" : "one lock";
        const double without_s = replay.without(lock.wall_s, [](const Wait&) { return false; });
        const double kernel_share = totals.cpu_s > 0 ? lock.kernel_s / totals.cpu_s : 0;
        const double shortest_s = replay.without(lock.wall_s + totals.wall_of_share(kernel_share),
                                                 [](const Wait&) { return false; }, lock.kernel_of);
        Finding finding;
        finding.id = id();
        finding.confidence = 0.9;
        finding.cost.seconds = lock.wall_s;
        finding.cost.fraction = std::min(1.0, lock.wall_s / replay.wall_s());
        finding.where = lock.holder_lines.heaviest(kMostLines);
        if (finding.where.empty())
            finding.where = lock.waiter_lines.heaviest(kMostLines);
        const auto does = std::max_element(lock.holder_does.begin(), lock.holder_does.end(),
                                           [](const auto& left, const auto& right) { return left.second < right.second; });
        const double does_share = does == lock.holder_does.end() ? 0 : does->second / lock.holder_s;
        const bool is_known = does != lock.holder_does.end() && does->second > lock.holder_s - lock.holder_known_s;
        finding.title = fmt::format("{} for {}, {}", waiters_of(lock.waiters.size()), object,
                                    !is_known ? std::string(lock.holders.size() == 1 ? "held by another thread" : "held by one another")
                                    : does->first == "computing"   ? std::string("held during computing")
                                    : does->first == kLacksCpu     ? std::string("whose holder waits for a CPU")
                                                                   : "held during " + does->first);
        // Where holders wait for a device under the lock, the device may be what they queue for: only what its time allows
        // is certain.
        const double certain_s = std::max(without_s, lock.holder_known_s > 0 ? device_bound(replay, lock) : 0);
        const double wall_s = replay.wall_s();
        finding.gain = {(wall_s - shortest_s) / wall_s,
                        "the run without waiting for this lock, and without the kernel's work for these waits; bound by the "
                        "longest thread's own time and by the CPUs",
                        std::max(0.0, wall_s - certain_s) / wall_s};
        finding.subject.kind = named ? "variable" : "lock";
        finding.subject.name = named ? named->name : fmt::format("{:#x}", key.second);
        finding.subject.details["process"] = process.name;
        finding.evidence["waiting_seconds"] = lock.waiting_s;
        finding.evidence["waiting_thread_count"] = static_cast<int64_t>(lock.waiters.size());
        finding.evidence["holding_thread_count"] = static_cast<int64_t>(lock.holders.size());
        finding.evidence["holder_blocked_fraction"] = lock.holder_known_s > 0 ? lock.holder_blocked_s / lock.holder_known_s : 0;
        if (lock.holder_s > lock.holder_known_s)
            finding.evidence["holder_unknown_fraction"] = 1 - lock.holder_known_s / lock.holder_s;
        if (lock.kernel_s > 0)
            finding.evidence["futex_cpu_seconds"] = lock.kernel_s;
        finding.evidence["look_count"] = static_cast<int64_t>(lock.looks);
        if (does != lock.holder_does.end())
            finding.evidence["holder_does"] = fmt::format("{} for {:.0f} % of that time", does->first, 100 * does_share);
        finding.evidence["waiting_at"] = line_names(lock.waiter_lines);
        finding.advice.push_back(advice_of(lock, does_share));
        note_unplaced(lock.holder_lines, input.run, finding);
        return finding;
    }

    static double device_bound(const WaitReplay& replay, const Lock& lock) {
        double device_s = 0;
        if (lock.holder_device_s > 0 && lock.holders.size() > 1)
            for (const Wait& wait : replay.waits())
                if (wait.what.kind == WaitKind::file || wait.what.kind == WaitKind::file_sync)
                    device_s += wait.seconds;
        return device_s;
    }

    static std::string waiters_of(size_t count) {
        return count == 1 ? "A thread waits" : fmt::format("{} threads wait", count);
    }

    static std::vector<std::string> line_names(const LineShares& lines) {
        std::vector<std::string> names;
        for (const Location& location : lines.heaviest(kMostLines))
            names.push_back(place_name(location));
        return names;
    }

    static Advice advice_of(const Lock& lock, double does_share) {
        if (const auto lacks = lock.holder_does.find(kLacksCpu);
            lacks != lock.holder_does.end() && lacks->second > lock.holder_s / 2)
            return {"Let the holder run",
                    fmt::format("the holder itself waits for a CPU for {:.0f} % of the time in which others wait for it: use no "
                                "more threads than there are CPUs, and keep other programs off these", 100 * does_share),
                    "run", ""};
        if (lock.holder_blocked_s > lock.holder_known_s / 2)
            return {"Do not hold the lock while waiting",
                    fmt::format("the holder itself is blocked for {:.0f} % of the time in which others wait: copy what must be "
                                "written under the lock, and write it after unlocking", 100 * does_share),
                    "code", ""};
        return {"Hold the lock for less",
                "compute outside and only store the result under the lock; give each part of the data (bucket, row, queue) a "
                "lock of its own; or give each thread a copy and merge them at the end", "code", ""};
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_lock_wait() { return std::make_unique<LockWait>(); }

} // namespace plumb
