#include "diagnoses/wait/slow_stages.h"

#include "analyses/analyses.h"
#include "analyses/time/thread_times.h"
#include "diagnoses/common/task_names.h"
#include "diagnoses/wait/late_threads.h"
#include "support/idle_share.h"
#include "support/nanoseconds.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <sys/syscall.h>
#include <tuple>

namespace plumb {

namespace {

constexpr double kBusyStage = 0.75;           // of the life of a thread of the slow stage: it goes on, or could if it had a CPU
constexpr double kOnTheWall = 0.5;            // of the run: it depends on the stage
constexpr double kMostlyForIt = 0.75;         // of what a thread waits for: the stage
constexpr double kLeastWaiting = 0.10;        // of the run, for the stage
constexpr double kLeastWork = 1 - kIdleShare; // of the slow stage's: a thread that does less is no stage that could be overlapped
constexpr double kEqualStages = 1.25;         // equal stages differ so much by chance, on unequal CPUs
constexpr uint64_t kManyHandovers = 20;       // they hand over item by item, and do not just begin and end

using ThreadKey = WaitReplay::ThreadKey;

struct Waiter {
    struct Part { // for one other thread
        double seconds = 0;
        uint64_t looks = 0;
    };
    std::map<ThreadKey, Part> for_whom;
    double queue_s = 0, written_s = 0; // in all waits at queues and pipes; of it, for room in a pipe
    uint64_t count = 0, looks = 0;     // of these
    bool writes() const { return written_s > queue_s / 2; }
};

// By what threads do: the function that they began with, and the one that takes most of their time.
using Work = std::tuple<uint32_t, std::string, std::string>; // process

class StageFinder {
  public:
    StageFinder(const DiagnosisInput& input, const WaitReplay& replay) : run_(input.run), paths_(input.paths), replay_(replay) {
        for (const Spinning& part : input.analyses.spinning)
            spun_s_[{part.process, part.thread}] += part.cpu_s;
    }

    std::vector<SlowStage> all() {
        find_waits();
        std::map<Work, std::vector<ThreadKey>> groups;
        for (uint32_t process = 0; process < run_.processes.size(); ++process)
            for (uint32_t thread = 0; thread < run_.processes[process].threads.size(); ++thread)
                if (is_busy({process, thread}))
                    groups[work_of_thread({process, thread})].push_back({process, thread});
        std::vector<SlowStage> stages;
        for (const auto& [work, members] : groups)
            if (SlowStage stage = stage_of(work, members); stage.saved_s > 0)
                stages.push_back(std::move(stage));
        std::ranges::stable_sort(stages, std::greater<>(), &SlowStage::saved_s);
        return stages;
    }

  private:
    const model::Thread& thread_of(const ThreadKey& key) const { return run_.processes[key.first].threads[key.second]; }

    bool is_first(const ThreadKey& key) const { return thread_of(key).tid == run_.processes[key.first].pid || key.second == 0; }

    bool is_busy(const ThreadKey& key) const {
        const ThreadTimes times = thread_times(thread_of(key));
        return times.run_s > 0 && work_s_of(key) + times.no_cpu_s >= kBusyStage * times.life_s();
    }

    const Work& work_of_thread(const ThreadKey& key) {
        const auto [known, is_new] = works_.try_emplace(key);
        if (is_new)
            known->second = find_work(key);
        return known->second;
    }

    Work find_work(const ThreadKey& key) {
        const LineShares lines = lines_of(paths_, {{key.first, key.second}});
        const std::vector<Location> heaviest = lines.heaviest(1);
        const std::string outermost = work_of(paths_, key.first, key.second);
        return {key.first, outermost.empty() ? first_function_of(key) : outermost, heaviest.empty() ? "" : heaviest[0].function};
    }

    // The user's outermost function in its waits, for a thread that computes too little to be sampled.
    std::string first_function_of(const ThreadKey& key) {
        std::string outermost;
        for (const model::BlockedSite& site : run_.processes[key.first].blocked)
            if (site.thread == key.second && site.path != 0 && outermost.empty())
                for (const model::SourceFrame& frame : paths_.stack(key.first, site.path))
                    if (!frame.function.empty() && !model::is_system_module(frame.module) && !model::is_system_source(frame.file))
                        outermost = frame.function;
        return outermost;
    }

    // With a limit of its own: nobody has to end the wait.
    bool is_timed(uint32_t process, uint32_t path) {
        const std::vector<model::SourceFrame> frames = paths_.stack(process, path);
        return std::ranges::any_of(frames, [](const model::SourceFrame& frame) {
            return model::is_system_module(frame.module) && (frame.function.find("timedwait") != std::string::npos ||
                                                             frame.function.find("clockwait") != std::string::npos);
        });
    }

    static bool is_queue(WaitKind kind) {
        return kind == WaitKind::condition || kind == WaitKind::futex || kind == WaitKind::pipe || kind == WaitKind::network;
    }

    static bool writes(int system_call) {
        return system_call == SYS_write || system_call == SYS_writev || system_call == SYS_sendto || system_call == SYS_sendmsg;
    }

    void find_waits() {
        std::set<std::tuple<uint32_t, uint32_t, uint32_t, int, uint64_t>> queues; // process, thread, path, call, object
        for (const Wait& wait : replay_.waits()) {
            const model::BlockedSite& site = *wait.site;
            const ThreadKey key{wait.process, site.thread};
            const bool at_queue = is_queue(wait.what.kind) && !is_timed(wait.process, site.path);
            if (at_queue) {
                Waiter& waiter = waiters_[key];
                waiter.queue_s += wait.seconds;
                waiter.written_s += writes(site.system_call) ? wait.seconds : 0;
                waiter.count += wait.count;
                waiter.looks += site.looks;
                queues.insert({wait.process, site.thread, site.path, site.system_call, site.object});
            }
            if (wait.what.kind == WaitKind::sleep)
                slept_s_[key] += wait.seconds;
            switch (wait.what.kind) {
            case WaitKind::events:
            case WaitKind::terminal:
            case WaitKind::sleep:
            case WaitKind::signal:
            case WaitKind::network:
            case WaitKind::child:
            case WaitKind::other:
                from_outside_[key] += wait.count;
                break;
            default:
                from_outside_[key] += is_queue(wait.what.kind) && !at_queue ? wait.count : 0;
                break;
            }
        }
        for (uint32_t process = 0; process < run_.processes.size(); ++process)
            for (const model::WaitedFor& waited : run_.processes[process].waited_for) {
                using Relation = model::WaitedFor::Relation;
                if ((waited.relation != Relation::work && waited.relation != Relation::peer) ||
                    !queues.contains({process, waited.thread, waited.path, waited.system_call, waited.object}))
                    continue;
                Waiter::Part& part = waiters_[{process, waited.thread}].for_whom[{waited.peer_process, waited.peer_thread}];
                part.seconds += seconds(waited.time_ns) * replay_.blocked_scale(process, waited.thread);
                part.looks += waited.looks;
            }
    }

    // Less the time that it spins for others.
    double own_s_of(const ThreadKey& key) const {
        const auto spun = spun_s_.find(key);
        return replay_.own_s(key) - (spun == spun_s_.end() ? 0 : std::min(spun->second, replay_.own_s(key)));
    }

    // Without sleeps: a stage that looks for items in a loop, or keeps a period, is not slow.
    double work_s_of(const ThreadKey& key) const {
        const auto slept = slept_s_.find(key);
        return own_s_of(key) - (slept == slept_s_.end() ? 0 : std::min(slept->second, own_s_of(key)));
    }

    double device_s_of(const ThreadKey& key) const { return work_s_of(key) - thread_times(thread_of(key)).run_s; }

    double wall_s_of(const ThreadKey& key) const {
        double wall_s = static_cast<double>(thread_of(key).wall_running_ns) * replay_.wall_scale();
        for (const Wait& wait : replay_.waits())
            if (wait.process == key.first && wait.site->thread == key.second && !is_for_others(wait.what.kind))
                wall_s += wait.wall_s;
        return wall_s;
    }

    SlowStage stage_of(const Work& work, const std::vector<ThreadKey>& members) {
        SlowStage stage;
        const std::set<ThreadKey> slow(members.begin(), members.end());
        uint64_t waits = 0; // of the member that waits most often
        for (const ThreadKey& key : members) {
            stage.members.push_back({key.first, key.second});
            stage.wall_s += wall_s_of(key);
            if (work_s_of(key) > stage.own_s) {
                stage.own_s = work_s_of(key);
                stage.device_s = device_s_of(key);
            }
            if (const auto found = waiters_.find(key); found != waiters_.end())
                waits = std::max(waits, found->second.count);
        }
        if (stage.wall_s < kOnTheWall * replay_.wall_s())
            return {};
        for (uint32_t process = 0; process < run_.processes.size(); ++process)
            for (uint32_t thread = 0; thread < run_.processes[process].threads.size(); ++thread)
                if (!slow.contains({process, thread}))
                    stage.next_s = std::max(stage.next_s, own_s_of({process, thread}));
        std::vector<std::pair<double, ThreadKey>> order;
        for (const auto& [key, waiter] : waiters_)
            if (!slow.contains(key) && waiter.count >= kManyHandovers && waits <= waiter.count / 2)
                if (const double time_s = time_for(key, waiter, slow, work, stage.own_s);
                    time_s >= kLeastWaiting * replay_.wall_s())
                    order.emplace_back(time_s, key);
        std::ranges::stable_sort(order, std::greater<>(), [](const auto& entry) { return entry.first; });
        for (const auto& [time_s, key] : order)
            add_waiter(stage, slow, key, time_s);
        if (stage.waiters.empty() || stage.own_s < kEqualStages * stage.next_s)
            return {};
        stage.saved_s = std::min({stage.own_s - stage.next_s, stage.wall_s, replay_.wall_s() - replay_.busy_bound_s()});
        const double less_s = stage.own_s - stage.next_s;
        stage.saved_by_less_s = std::min({less_s, stage.wall_s, replay_.wall_s() - replay_.cpu_bound_s(less_s)});
        return stage;
    }

    // Together with the other threads of its stage.
    bool does_work(const ThreadKey& key, double slow_s) {
        double own_s = own_s_of(key);
        if (own_s < kLeastWork * slow_s) {
            const Work work = work_of_thread(key);
            for (const auto& [other, waiter] : waiters_)
                if (other != key && other.first == key.first && work_of_thread(other) == work)
                    own_s += own_s_of(other);
        }
        return own_s >= kLeastWork * slow_s;
    }

    // Waits that threads of the process end for other reasons than what its own threads did; those of the stage are its work.
    uint64_t from_outside(uint32_t process, const std::set<ThreadKey>& slow) const {
        uint64_t count = 0;
        for (const auto& [key, waits] : from_outside_)
            count += key.first == process && !slow.contains(key) ? waits : 0;
        return count;
    }

    // How long it waits for the stage; 0: not known.
    double time_for(const ThreadKey& key, const Waiter& waiter, const std::set<ThreadKey>& slow, const Work& work, double slow_s) {
        double all_s = 0, for_it_s = 0;
        for (const auto& [peer, part] : waiter.for_whom) {
            all_s += part.seconds;
            for_it_s += slow.contains(peer) ? part.seconds : 0;
        }
        const ThreadKey& one = *slow.begin();
        const bool same_process = key.first == one.first;
        if (same_process && (work_of_thread(key) == work || from_outside(key.first, slow) > waiter.count / 2))
            return 0;
        double share = all_s > 0 ? for_it_s / all_s : 0;
        if (!does_work(key, slow_s)) {
            const bool brings = same_process ? is_first(key) || is_done_before(key, one, work) : waiter.writes();
            if (!brings || slow.size() > 1)
                return 0;
        }
        if (all_s <= 0 && same_process) // the recorder passes over threads that wait nearly all the time
            share = busy_share(one);
        return share >= kMostlyForIt ? share * waiter.queue_s : 0;
    }

    double busy_share(const ThreadKey& key) const {
        const ThreadTimes times = thread_times(thread_of(key));
        return times.life_s() > 0 ? std::min(1.0, (work_s_of(key) + times.no_cpu_s) / times.life_s()) : 0;
    }

    // Of two threads that do different work the one that brings it to the other is done first.
    bool is_done_before(const ThreadKey& key, const ThreadKey& slow, const Work& work) {
        return !is_first(key) && !is_first(slow) && thread_of(key).end_ns < thread_of(slow).end_ns &&
               std::get<1>(work_of_thread(key)) != std::get<1>(work);
    }

    void add_waiter(SlowStage& stage, const std::set<ThreadKey>& slow, const ThreadKey& key, double time_s) {
        const Waiter& waiter = waiters_.at(key);
        if (stage.waiters.empty()) {
            stage.waiting_s = time_s;
            stage.other_process = key.first != slow.begin()->first;
        }
        stage.waiters.push_back({key.first, key.second});
        stage.is_fed |= does_work(key, stage.own_s) || waiter.writes() || !is_first(key);
        if (waiter.for_whom.empty())
            stage.looks += waiter.looks;
        for (const auto& [peer, part] : waiter.for_whom)
            stage.looks += slow.contains(peer) ? part.looks : 0;
        for (const Wait& wait : replay_.waits())
            if (wait.process == key.first && wait.site->thread == key.second && is_queue(wait.what.kind))
                stage.waiting_at.add(paths_.user_frame(wait.process, wait.site->path), wait.seconds);
    }

    const model::Run& run_;
    model::CallPaths& paths_;
    const WaitReplay& replay_;
    std::map<ThreadKey, Waiter> waiters_;
    std::map<ThreadKey, Work> works_; // that were asked for
    std::map<ThreadKey, double> slept_s_, spun_s_;
    std::map<ThreadKey, uint64_t> from_outside_; // waits that no thread of the process ends, by who waits
};

} // namespace

std::vector<SlowStage> slow_stages(const DiagnosisInput& input, const WaitReplay& replay) {
    return StageFinder(input, replay).all();
}

} // namespace plumb
