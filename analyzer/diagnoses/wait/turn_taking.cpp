#include "diagnoses/wait/turn_taking.h"

#include "analyses/time/thread_times.h"
#include "diagnoses/common/task_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <sys/syscall.h>
#include <tuple>

namespace plumb {

namespace {

constexpr size_t kMostTakers = 8, kMostCallers = 16;
constexpr double kHardly = 0.1; // of the longest waiter's time

// "double package.Class.method(int)"; others that the Java machine names are the interpreter and stubs.
bool is_java_method(const std::string& function) {
    const size_t type_end = function.find(' '), arguments = function.find('(');
    const size_t dot = type_end == std::string::npos ? type_end : function.find('.', type_end);
    return dot != std::string::npos && arguments != std::string::npos && dot < arguments;
}

// Code of the runtimes is no place to look at.
bool is_runtime_code(const model::SourceFrame& frame) {
    const auto has = [&](const char* part) { return frame.function.find(part) != std::string::npos; };
    const bool has_file = !frame.module.empty() && frame.module[0] == '/';
    return frame.module.ends_with("libjvm.so") || has(" java.") || has(" jdk.") || (!has_file && !is_java_method(frame.function));
}

void add_line(model::CallPaths& paths, uint32_t process, uint32_t node, double weight, LineShares& lines) {
    for (const model::SourceFrame& frame : paths.user_callers(process, node, kMostCallers))
        if (!is_runtime_code(frame))
            return lines.add(frame, weight);
}

using WaitPlace = std::tuple<uint32_t, uint32_t, uint64_t>; // thread, path, object

// Others of the process that ran while these waited hold nothing: they never wait for it.
void add_those_who_go_on(const model::Process& process, const std::set<WaitPlace>& places, TurnTaking& turns) {
    for (const model::WaitedFor& waited : process.waited_for)
        if (waited.relation == model::WaitedFor::Relation::work && waited.peer_process == turns.process &&
            turns.waits_s.contains(waited.peer_thread) && places.contains({waited.thread, waited.path, waited.object}))
            turns.went_on_s[waited.peer_thread] += static_cast<double>(waited.time_ns) * 1e-9;
}

// Where the chain of who waits for whom ends at a thread that waits for others, nobody ran, and some sleep that the runtime made of
// a futex may be what it waited for.
void find_gain(const model::Process& process, const WaitReplay& replay, TurnTaking& turns) {
    double ended_s = 0, sleep_s = 0;
    for (const auto& [thread, waits_s] : turns.waits_s) {
        turns.awaited_s += static_cast<double>(process.threads[thread].wall_running_ns) * replay.wall_scale();
        turns.running_s += thread_times(process.threads[thread]).run_s;
    }
    for (const Wait& wait : replay.waits()) {
        if (wait.process != turns.process)
            continue;
        if (is_for_others(wait.what.kind)) {
            ended_s += wait.wall_s;
        } else if (turns.waits_s.contains(wait.site->thread)) {
            turns.awaited_s += wait.wall_s;
            turns.asleep_s += wait.seconds;
            sleep_s += wait.what.kind == WaitKind::sleep && wait.site->system_call == SYS_futex ? wait.seconds : 0;
        }
    }
    turns.awaited_s += std::min(ended_s, sleep_s);
    if (turns.awaited_s <= 0)
        return;
    turns.most_s = turns.awaited_s * turns.waiting_s / (turns.awaited_s + turns.waiting_s);
    turns.least_s = std::min(turns.most_s, turns.waiting_s / static_cast<double>(turns.waits_s.size()));
}

std::map<uint32_t, TurnTaking> waiting_threads(const WaitReplay& replay, RuntimeLock lock) { // by process
    std::map<uint32_t, TurnTaking> found;
    for (const Wait& wait : replay.waits())
        if (wait.what.runtime == lock && lock != RuntimeLock::none) {
            found[wait.process].process = wait.process;
            found[wait.process].waits_s[wait.site->thread] += wait.seconds;
        }
    for (auto& [process, turns] : found) {
        double longest_s = 0;
        for (const auto& [thread, seconds] : turns.waits_s)
            longest_s = std::max(longest_s, seconds);
        std::erase_if(turns.waits_s, [&](const auto& entry) { return entry.second < kHardly * longest_s; });
    }
    std::erase_if(found, [](const auto& entry) { return entry.second.waits_s.size() < 2; });
    return found;
}

} // namespace

Gain gain_of(const TurnTaking& turns, const WaitReplay& replay) {
    const double wall_s = replay.wall_s(), room_s = std::max(0.0, wall_s - replay.busy_bound_s());
    const auto saved_s = [&](double seconds) { return wall_s - replay.without(seconds, [](const Wait&) { return false; }); };
    const double most_s = saved_s(turns.most_s), least_s = saved_s(turns.least_s);
    const double best_s = room_s < most_s ? (room_s + most_s) / 2 : most_s;
    Gain gain;
    gain.fraction = best_s / wall_s;
    gain.at_least = std::min(least_s, room_s) / wall_s;
    gain.likely = std::min(least_s, best_s) / wall_s;
    return gain;
}

std::vector<TurnTaking> turn_takings(const DiagnosisInput& input, const WaitReplay& replay, RuntimeLock lock) {
    std::vector<TurnTaking> all;
    for (auto& [index, turns] : waiting_threads(replay, lock)) {
        const model::Process& process = input.run.processes[index];
        std::set<WaitPlace> places;
        for (const Wait& wait : replay.waits()) {
            if (wait.process != index || wait.what.runtime != lock || !turns.waits_s.contains(wait.site->thread))
                continue;
            turns.waiting_s += wait.seconds;
            turns.looks += wait.site->looks;
            add_line(input.paths, index, wait.site->path, wait.seconds, turns.waiting_at);
            places.insert({wait.site->thread, wait.site->path, wait.site->object});
        }
        for (const model::SampleSite& site : process.samples)
            if (turns.waits_s.contains(site.thread))
                add_line(input.paths, index, site.path, static_cast<double>(site.time_ns) * 1e-9, turns.running_at);
        add_those_who_go_on(process, places, turns);
        find_gain(process, replay, turns);
        all.push_back(std::move(turns));
    }
    std::ranges::stable_sort(all, std::greater<>(), &TurnTaking::most_s);
    return all;
}

std::vector<std::string> thread_times_of(const model::Run& run, uint32_t process, const std::map<uint32_t, double>& seconds) {
    std::vector<std::pair<double, uint32_t>> order;
    for (const auto& [thread, time_s] : seconds)
        order.emplace_back(time_s, thread);
    std::ranges::sort(order, std::greater<>());
    std::vector<std::string> names;
    for (const auto& [time_s, thread] : order)
        if (names.size() < kMostTakers)
            names.push_back(fmt::format("{}: {:.3g} s", task_name(run, {process, thread}), time_s));
    return names;
}

} // namespace plumb
