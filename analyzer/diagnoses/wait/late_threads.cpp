#include "diagnoses/wait/late_threads.h"

#include "analyses/analyses.h"
#include "analyses/time/thread_times.h"
#include "support/nanoseconds.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace plumb {

namespace {

constexpr double kMemberShare = 0.05; // of the waiting time that a thread is waited for: less is chance
constexpr double kCoordinates = 0.1;  // of the late thread's work: a thread that does less, and another work, is none of the pool
constexpr double kBusy = 0.5;         // of the life of a thread that does its share of a pool's work

class Finder {
  public:
    Finder(const DiagnosisInput& input, const WaitReplay& replay) : paths_(input.paths), replay_(replay) {
        room_s_ = std::max(0.0, replay.wall_s() - replay.busy_bound_s());
        for (const Spinning& part : input.analyses.spinning)
            elsewhere_s_[{part.process, part.thread}] += part.cpu_s;
        for (const SerialPhases& phases : input.analyses.serial_phases)
            elsewhere_s_[{phases.process, phases.thread}] += phases.serial_s;
    }

    std::vector<LateThreads> all() {
        for (uint32_t process = 0; process < paths_.run().processes.size(); ++process) {
            at_barriers(process);
            at_joins(process);
        }
        std::erase_if(groups_, [](const LateThreads& group) { return group.saved_s <= 0 || group.late_s.empty(); });
        return std::move(groups_);
    }

  private:
    const model::Process& process_of(uint32_t process) const { return paths_.run().processes[process]; }

    void at_barriers(uint32_t process) {
        std::map<uint64_t, LateThreads> by_barrier;
        std::map<uint64_t, std::map<uint32_t, double>> members; // and how long each waits
        std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint64_t> barrier_at; // thread, path, object
        for (const Wait& wait : replay_.waits()) {
            if (wait.process != process || wait.what.kind != WaitKind::barrier || wait.what.what != words_of(WaitKind::barrier))
                continue;
            const model::BlockedSite& site = *wait.site;
            LateThreads& group = by_barrier[site.object];
            group.waiting_s += wait.seconds;
            group.looks += site.looks;
            group.waiting_at.add(paths_.user_frame(process, site.path), wait.seconds);
            members[site.object][site.thread] += wait.seconds;
            barrier_at[{site.thread, site.path, site.object}] = site.object;
        }
        for (const model::WaitedFor& waited : process_of(process).waited_for)
            if (const auto found = barrier_at.find({waited.thread, waited.path, waited.object});
                found != barrier_at.end() && waited.peer_process == process)
                by_barrier[found->second].late_s[waited.peer_thread] += seconds(waited.time_ns);
        for (auto& [barrier, group] : by_barrier) {
            double late_s = 0;
            for (const auto& [thread, time_s] : group.late_s)
                late_s += time_s;
            std::erase_if(group.late_s, [&](const auto& entry) { return entry.second < kMemberShare * late_s; });
            for (const auto& [thread, time_s] : group.late_s)
                members[barrier].try_emplace(thread, 0);
            drop_coordinators(group, process, members[barrier]);
            finish(group, process, members[barrier]);
        }
    }

    // On a CPU, but not to wait for others there, and not in code of which the rest of the team has no part.
    double work_s_of(uint32_t process, uint32_t thread) const {
        const auto elsewhere = elsewhere_s_.find({process, thread});
        return thread_times(process_of(process).threads[thread]).run_s - (elsewhere == elsewhere_s_.end() ? 0 : elsewhere->second);
    }

    // Whoever hands out the work, and waits until it is done, is at the same barrier.
    void drop_coordinators(LateThreads& group, uint32_t process, std::map<uint32_t, double>& members) const {
        double most_s = 0;
        std::string work;
        for (const auto& [thread, waiting_s] : members)
            if (const double work_s = work_s_of(process, thread); work_s > most_s) {
                most_s = work_s;
                work = work_of(paths_, process, thread);
            }
        std::erase_if(members, [&](const auto& member) {
            const auto [thread, waiting_s] = member;
            const bool coordinates = work_s_of(process, thread) < kCoordinates * most_s && work_of(paths_, process, thread) != work;
            if (coordinates) {
                group.waiting_s -= waiting_s;
                group.late_s.erase(thread);
            }
            return coordinates;
        });
    }

    void finish(LateThreads& group, uint32_t process, const std::map<uint32_t, double>& members) {
        if (members.size() < 2 || group.late_s.empty())
            return;
        group.process = process;
        group.at_barrier = true;
        group.members = members.size();
        const auto run_s_of = [&](uint32_t thread) { return work_s_of(process, thread); };
        for (const auto& [thread, waiting_s] : members)
            group.mean_run_s += run_s_of(thread) / static_cast<double>(members.size());
        group.late_run_s = run_s_of(std::ranges::max_element(group.late_s, {}, [](const auto& entry) { return entry.second; })->first);
        group.saved_s = std::min({group.waiting_s / static_cast<double>(members.size()), group.late_run_s - group.mean_run_s, room_s_});
        groups_.push_back(std::move(group));
    }

    // Threads that live at the same time, chained: a pool that is begun again and again is a new one each time.
    void at_joins(uint32_t process) {
        std::map<uint32_t, std::pair<double, uint64_t>> joined; // by thread: seconds waited for its end, looks
        std::map<uint32_t, LineShares> joined_at;
        for (const model::WaitedFor& waited : process_of(process).waited_for)
            if (waited.relation == model::WaitedFor::Relation::end && waited.peer_process == process) {
                joined[waited.peer_thread].first += seconds(waited.time_ns);
                joined[waited.peer_thread].second += waited.looks;
                joined_at[waited.peer_thread].add(paths_.user_frame(process, waited.path), seconds(waited.time_ns));
            }
        if (joined.empty())
            return;
        std::map<std::string, std::vector<uint32_t>> by_work;
        const std::vector<model::Thread>& threads = process_of(process).threads;
        for (uint32_t thread = 0; thread < threads.size(); ++thread) {
            const ThreadTimes times = thread_times(threads[thread]);
            if (threads[thread].tid == process_of(process).pid || times.run_s + times.no_cpu_s < kBusy * times.life_s())
                continue;
            if (std::string work = work_of(paths_, process, thread); !work.empty())
                by_work[work].push_back(thread);
        }
        for (auto& [work, pool] : by_work) {
            std::ranges::sort(pool, {}, [&](uint32_t thread) { return threads[thread].start_ns; });
            LateThreads group;
            group.process = process;
            for (size_t begin = 0, end = 0; begin < pool.size(); begin = end) {
                uint64_t last_ns = threads[pool[begin]].end_ns;
                for (end = begin + 1; end < pool.size() && threads[pool[end]].start_ns < last_ns; ++end)
                    last_ns = std::max(last_ns, threads[pool[end]].end_ns);
                add_wave(group, threads, {pool.begin() + static_cast<long>(begin), pool.begin() + static_cast<long>(end)}, last_ns,
                         joined, joined_at);
            }
            if (group.late_s.empty())
                continue;
            group.saved_s = std::min(group.saved_s, room_s_);
            groups_.push_back(std::move(group));
        }
    }

    void add_wave(LateThreads& group, const std::vector<model::Thread>& threads, const std::vector<uint32_t>& wave,
                         uint64_t last_ns, const std::map<uint32_t, std::pair<double, uint64_t>>& joined,
                         const std::map<uint32_t, LineShares>& joined_at) const {
        uint32_t latest = wave[0];
        double waiting_s = 0;
        for (const uint32_t thread : wave) {
            waiting_s += seconds(last_ns - threads[thread].end_ns);
            if (threads[thread].end_ns > threads[latest].end_ns)
                latest = thread;
        }
        const auto waited = joined.find(latest);
        if (wave.size() < 2 || waited == joined.end()) // nobody waits for it
            return;
        // While the others had ended already, whoever joins waited for this one.
        const auto count = static_cast<double>(wave.size());
        waiting_s = std::min(waiting_s, waited->second.first * (count - 1));
        double run_s = 0;
        for (const uint32_t thread : wave)
            run_s += work_s_of(group.process, thread);
        const double late_s = work_s_of(group.process, latest);
        group.members = std::max(group.members, wave.size());
        group.mean_run_s += run_s / count;
        group.late_run_s += late_s;
        group.saved_s += std::max(0.0, std::min(waiting_s / count, late_s - run_s / count));
        group.waiting_s += waiting_s;
        group.late_s[latest] += waiting_s;
        group.looks += waited->second.second;
        for (const Location& place : joined_at.at(latest).heaviest(1)) {
            model::SourceFrame frame;
            frame.file = place.file;
            frame.line = place.line;
            frame.function = place.function;
            frame.module = place.module;
            group.waiting_at.add(frame, waiting_s);
        }
    }

    model::CallPaths& paths_;
    const WaitReplay& replay_;
    double room_s_ = 0;
    std::map<std::pair<uint32_t, uint32_t>, double> elsewhere_s_; // by process and thread: CPU time beside the pool's work
    std::vector<LateThreads> groups_;
};

} // namespace

std::string work_of(model::CallPaths& paths, uint32_t process, uint32_t thread) {
    const model::SampleSite* heaviest = nullptr;
    for (const model::SampleSite& site : paths.run().processes[process].samples)
        if (site.thread == thread && (!heaviest || site.time_ns > heaviest->time_ns))
            heaviest = &site;
    std::string outermost;
    if (heaviest)
        for (const model::SourceFrame& frame : paths.stack(process, heaviest->path))
            if (!frame.function.empty() && !model::is_system_module(frame.module) && !model::is_system_source(frame.file))
                outermost = frame.function;
    return outermost;
}

std::vector<LateThreads> late_threads(const DiagnosisInput& input, const WaitReplay& replay) { return Finder(input, replay).all(); }

} // namespace plumb
