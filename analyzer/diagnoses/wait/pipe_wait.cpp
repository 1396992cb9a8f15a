// Two processes of the run that take turns: each waits at a pipe or socket for the other to answer, so that only one of them
// computes.
#include "analyses/lines/line_shares.h"
#include "analyses/time/thread_times.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/task_names.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"
#include "diagnoses/wait/wait_replay.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace plumb {

namespace {

constexpr uint64_t kManyTalks = 20; // they talk again and again, and do not just start and end
constexpr size_t kMostPipes = 2;
// Of two that take turns one waits at each moment. Two that work at the same time wait now and then, too, and the more the less
// they have CPUs: then it is not known which of both they do.
constexpr double kTakesTurns = 0.7;     // of the time in which both live and have CPUs
constexpr double kMostWithoutCpu = 0.3; // of the time in which they could run

// One process waiting for another one.
struct OneWay {
    double seconds = 0;     // while the other one had a CPU
    double all_seconds = 0; // also while it had none
    uint64_t looks = 0;
    std::set<WaitReplay::ThreadKey> peers;
    LineShares waiting_at, peer_lines; // where the other was meanwhile
    std::map<WaitReplay::ThreadKey, double> waiters;
};

using Pair = std::pair<uint32_t, uint32_t>; // processes: the one that waits, the one that it waits for

class PipeWait : public Diagnosis {
  public:
    const char* id() const override { return "pipe-wait"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const WaitReplay replay(input.paths);
        std::map<Pair, OneWay> ways = ways_of(input.paths, replay);
        std::vector<std::pair<double, Pair>> order;
        for (const auto& [pair, way] : ways) {
            const auto back = ways.find({pair.second, pair.first});
            if (back == ways.end())
                continue;
            // Of two that wait for one another the one that waits longer is reported: the other is the one to look at.
            const bool first = way.seconds > back->second.seconds || (way.seconds == back->second.seconds && pair < back->first);
            const double overlap_s = std::min({way.seconds, back->second.seconds, replay.wall_s() - replay.busy_bound_s()});
            if (first && take_turns(input.run, pair, way, back->second) && waits_of(replay, input.run, pair) >= kManyTalks &&
                is_known_well(std::min(way.looks, back->second.looks), overlap_s / replay.wall_s()))
                order.emplace_back(overlap_s, pair);
        }
        std::ranges::stable_sort(order, std::greater<>(), [](const auto& entry) { return entry.first; });
        order.resize(std::min(order.size(), kMostPipes));
        std::vector<Finding> findings;
        for (const auto& [overlap_s, pair] : order)
            findings.push_back(finding_of(input, replay, pair, ways.at(pair), ways.at({pair.second, pair.first}), overlap_s));
        return findings;
    }

  private:
    static bool take_turns(const model::Run& run, const Pair& pair, const OneWay& way, const OneWay& back) {
        double run_s = 0, no_cpu_s = 0;
        for (const uint32_t process : {pair.first, pair.second})
            for (const model::Thread& thread : run.processes[process].threads) {
                const ThreadTimes times = thread_times(thread);
                run_s += times.run_s;
                no_cpu_s += times.no_cpu_s;
            }
        if (no_cpu_s > kMostWithoutCpu * (run_s + no_cpu_s))
            return false;
        const model::Process &one = run.processes[pair.first], &other = run.processes[pair.second];
        const double begin_ns = static_cast<double>(std::max(one.start_ns, other.start_ns));
        const double common_s = (static_cast<double>(std::min(one.end_ns, other.end_ns)) - begin_ns) * 1e-9;
        return way.all_seconds + back.all_seconds >= kTakesTurns * (common_s - no_cpu_s / 2);
    }

    // Of the time in which the other goes on; when it has no CPU, it is that which makes others wait.
    static double on_cpu_share(const model::Thread& thread) {
        const ThreadTimes times = thread_times(thread);
        return times.run_s > 0 ? times.run_s / (times.run_s + times.no_cpu_s) : 1;
    }

    static std::map<Pair, OneWay> ways_of(model::CallPaths& paths, const WaitReplay& replay) {
        std::map<Pair, OneWay> ways;
        const std::vector<model::Process>& processes = paths.run().processes;
        for (uint32_t process = 0; process < processes.size(); ++process)
            for (const model::WaitedFor& wait : processes[process].waited_for) {
                if (wait.relation != model::WaitedFor::Relation::peer || wait.peer_process == process)
                    continue;
                OneWay& way = ways[{process, wait.peer_process}];
                const double all_s = static_cast<double>(wait.time_ns) * replay.blocked_scale(process, wait.thread);
                const double seconds = all_s * on_cpu_share(processes[wait.peer_process].threads[wait.peer_thread]);
                way.seconds += seconds;
                way.all_seconds += all_s;
                way.looks += wait.looks;
                way.waiting_at.add(paths.user_frame(process, wait.path), seconds);
                way.peers.insert({wait.peer_process, wait.peer_thread});
                way.waiters[{process, wait.thread}] += seconds;
                if (wait.peer_path != 0)
                    way.peer_lines.add(paths.user_frame(wait.peer_process, wait.peer_path), seconds);
            }
        return ways;
    }

    static uint64_t waits_of(const WaitReplay& replay, const model::Run& run, const Pair& pair) {
        std::set<std::pair<uint32_t, uint32_t>> places;
        for (const model::WaitedFor& wait : run.processes[pair.first].waited_for)
            if (wait.relation == model::WaitedFor::Relation::peer && wait.peer_process == pair.second)
                places.insert({wait.thread, wait.path});
        uint64_t waits = 0;
        for (const Wait& wait : replay.waits())
            waits += wait.process == pair.first && places.contains({wait.site->thread, wait.site->path}) ? wait.count : 0;
        return waits;
    }

    static std::string name_of(const model::Process& process) { return fmt::format("{} ({})", process.name, process.pid); }

    Finding finding_of(const DiagnosisInput& input, const WaitReplay& replay, const Pair& pair, const OneWay& way,
                       const OneWay& back, double overlap_s) const {
        const model::Process &waiting = input.run.processes[pair.first], &peer = input.run.processes[pair.second];
        const double wall_s = replay.wall_s();
        const auto most = std::ranges::max_element(way.waiters, {}, [](const auto& entry) { return entry.second; });
        Finding finding;
        finding.id = id();
        finding.confidence = 0.8;
        finding.cost.seconds = std::min(wall_s, most->second);
        finding.cost.fraction = finding.cost.seconds / wall_s;
        // Most waits are shorter than the time between two samples: all that each of them does, the other one waits for.
        std::vector<Task> both;
        for (const OneWay* each : {&way, &back})
            for (const auto& [process, thread] : each->peers)
                both.push_back({process, thread});
        const LineShares all_lines = lines_of(input.paths, both);
        const LineShares& lines = all_lines.heaviest(1).empty() ? way.peer_lines : all_lines;
        finding.where = lines.heaviest(kMostLines);
        finding.title = fmt::format("{} and {} take turns: one waits for the other's answer while that one computes", name_of(waiting),
                                    name_of(peer));
        finding.gain = {overlap_s / wall_s,
                        "if both compute at the same time; what the one needs of the other's answer before it can go on was not seen",
                        std::nullopt};
        finding.subject.kind = "process";
        finding.subject.name = name_of(peer);
        finding.subject.details["waiting_process"] = name_of(waiting);
        finding.evidence["waiting_seconds"] = way.seconds;
        finding.evidence["waiting_the_other_way_seconds"] = back.seconds;
        finding.evidence["look_count"] = static_cast<int64_t>(way.looks);
        std::vector<std::string> at;
        for (const Location& location : way.waiting_at.heaviest(kMostLines))
            at.push_back(place_name(location));
        finding.evidence["waiting_at"] = at;
        finding.advice.push_back({"Send the next request before waiting for the answer to this one",
            "two requests under way keep both processes busy; several items in one request make fewer waits", "code", ""});
        note_unplaced(lines, input.run, finding);
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_pipe_wait() { return std::make_unique<PipeWait>(); }

} // namespace plumb
