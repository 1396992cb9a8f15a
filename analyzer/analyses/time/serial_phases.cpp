#include "analyses/time/serial_phases.h"

#include "analyses/time/own_time.h"
#include "analyses/time/parallel_runtime.h"
#include "analyses/time/run_totals.h"
#include "analyses/time/spin_loop_at.h"
#include "analyses/time/thread_times.h"
#include "analyses/time/wait_class.h"
#include "support/nanoseconds.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace plumb {

namespace {

constexpr double kLeastShare = 0.10;  // of the run, serial; and as much with a team at work: less is no program that lives by it
constexpr double kMostlyShare = 0.8;  // of a serial function's time: alone, and of one thread
constexpr double kMostOverlap = 0.2;  // of the team's time, in which a serial function goes on as well
constexpr double kUsersShare = 0.5;   // of the team's work, in code of the user's own: helpers of a runtime are no team
constexpr double kWholeLife = 0.9;    // of a process's life, of which the number of active threads is known
constexpr uint64_t kLeastSamples = 30;

using Function = std::pair<std::string, std::string>; // module, name

struct FunctionTime { // inclusive
    double all_s = 0, alone_s = 0;
    std::map<uint32_t, double> by_thread;
};

bool is_users(const model::SourceFrame& frame) {
    return !frame.function.empty() && !model::is_system_module(frame.module) && !model::is_system_source(frame.file);
}

class Finder {
  public:
    Finder(model::CallPaths& paths, uint32_t index, double run_s, double wall_scale)
        : paths_(paths), index_(index), process_(paths.run().processes[index]), run_s_(run_s), wall_scale_(wall_scale) {}

    std::optional<SerialPhases> find() {
        if (!is_known() || process_.openmp.has_value())
            return std::nullopt;
        const auto& active = process_.threads_active.active_ns;
        parallel_s_ = seconds(std::accumulate(active.begin() + 2, active.end(), uint64_t{0}));
        if (parallel_s_ < kLeastShare * run_s_)
            return std::nullopt;
        add_up();
        const double together_s = std::accumulate(together_s_.begin(), together_s_.end(), 0.0);
        if (std::accumulate(users_together_s_.begin(), users_together_s_.end(), 0.0) < kUsersShare * together_s)
            return std::nullopt;
        std::optional<SerialPhases> most;
        for (uint32_t thread = 0; thread < process_.threads.size(); ++thread) {
            SerialPhases phases = of_thread(thread);
            if (!most || phases.serial_s > most->serial_s)
                most = std::move(phases);
        }
        if (!most || most->serial_s < kLeastShare * run_s_ || most->samples < kLeastSamples)
            return std::nullopt;
        most->team = mean_active();
        most->parallel_s = parallel_s_;
        most->cpus = std::max(1.0, together_s / parallel_s_);
        most->most_cpus = std::max(most->cpus, std::min(most->team, usable_cpus()));
        return most;
    }

  private:
    // All along: where records of switches stopped, what followed looks as if nobody had been alone.
    bool is_known() const {
        const model::ThreadsActive& active = process_.threads_active;
        const double known_s = seconds(std::accumulate(active.active_ns.begin(), active.active_ns.end(), uint64_t{0}));
        return process_.threads.size() > 1 && process_.end_ns > process_.start_ns &&
               known_s >= kWholeLife * seconds(process_.end_ns - process_.start_ns);
    }

    // Threads in the phases in which several are active.
    double mean_active() const {
        double sum_s = 0;
        for (size_t count = 2; count < model::ThreadsActive::kBins; ++count)
            sum_s += static_cast<double>(count) * seconds(process_.threads_active.active_ns[count]);
        return sum_s / parallel_s_;
    }

    double usable_cpus() const {
        std::set<int> cpus;
        for (const model::Thread& thread : process_.threads)
            cpus.insert(thread.allowed_cpus.begin(), thread.allowed_cpus.end());
        return cpus.empty() ? 1 : static_cast<double>(cpus.size());
    }

    // From sampled time to the exact time on a CPU.
    void set_scales() {
        std::vector<double> sampled_s(process_.threads.size());
        for (const model::SampleSite& site : process_.samples)
            if (site.thread < sampled_s.size())
                sampled_s[site.thread] += seconds(site.time_ns);
        scales_.assign(sampled_s.size(), 0);
        for (size_t thread = 0; thread < sampled_s.size(); ++thread)
            if (sampled_s[thread] > 0)
                scales_[thread] = thread_times(process_.threads[thread]).run_s / sampled_s[thread];
    }

    void add_up() {
        set_scales();
        together_s_.assign(scales_.size(), 0);
        users_together_s_ = together_s_;
        for (const model::SampleSite& site : process_.samples) {
            if (site.thread >= scales_.size())
                continue;
            const double all_s = seconds(site.time_ns) * scales_[site.thread];
            const double alone_s = seconds(site.alone_ns) * scales_[site.thread];
            std::set<Function> functions;
            for (const model::SourceFrame& frame : paths_.stack(index_, site.path))
                if (is_users(frame))
                    functions.insert({frame.module, frame.function});
            together_s_[site.thread] += all_s - alone_s;
            users_together_s_[site.thread] += functions.empty() ? 0 : all_s - alone_s;
            for (const Function& function : functions) {
                FunctionTime& time = functions_[function];
                time.all_s += all_s;
                time.alone_s += alone_s;
                time.by_thread[site.thread] += all_s;
            }
        }
    }

    bool is_serial(const Function& function, uint32_t thread) const {
        const auto found = functions_.find(function);
        if (found == functions_.end())
            return false;
        const FunctionTime& time = found->second;
        const auto its = time.by_thread.find(thread);
        return its != time.by_thread.end() && its->second >= kMostlyShare * time.all_s &&
               time.alone_s >= kMostlyShare * time.all_s && time.all_s - time.alone_s <= kMostOverlap * parallel_s_;
    }

    // The functions in which the thread waits for the team: what they call is the work, not they.
    std::set<Function> waiting_functions(uint32_t thread) const {
        std::set<Function> functions;
        for (const model::BlockedSite& site : process_.blocked) {
            if (site.thread != thread)
                continue;
            switch (wait_class_of(paths_, index_, site).kind) {
            case WaitKind::condition:
            case WaitKind::barrier:
            case WaitKind::thread_end:
            case WaitKind::futex:
            case WaitKind::parked:
                for (const model::SourceFrame& frame : paths_.stack(index_, site.path))
                    functions.insert({frame.module, frame.function});
                break;
            default:
                break;
            }
        }
        return functions;
    }

    SerialPhases of_thread(uint32_t thread) const {
        SerialPhases phases;
        phases.process = index_;
        phases.thread = thread;
        const double run_s = thread_times(process_.threads[thread]).run_s;
        const double on_the_wall =
            run_s > 0 ? std::min(1.0, static_cast<double>(process_.threads[thread].wall_running_ns) * wall_scale_ / run_s) : 0;
        if (on_the_wall <= 0)
            return phases;
        const std::set<Function> waiting = waiting_functions(thread);
        std::set<uint32_t> serial_paths;
        for (const model::SampleSite& site : process_.samples) {
            if (site.thread != thread || site.alone_ns == 0 || is_own_code(paths_, index_, site.path) ||
                parallel_runtime_of(paths_, index_, site.path) != ParallelRuntime::none || spin_loop_at(process_, site.path))
                continue;
            const std::optional<model::SourceFrame> frame = serial_frame(site.path, thread, waiting);
            if (!frame)
                continue;
            const double time_s = seconds(site.alone_ns) * scales_[thread] * on_the_wall;
            phases.serial_s += time_s;
            phases.samples += site.samples;
            phases.lines.add(*frame, time_s);
            if (site.kernel_samples * 2 <= site.samples)
                phases.functions[frame->function] += time_s;
            serial_paths.insert(site.path);
        }
        phases.serial_s = std::max(0.0, phases.serial_s - locked_s(thread, serial_paths));
        phases.doubtful_s = doubtful_s(thread);
        return phases;
    }

    // What runs alone: the outermost function that does not wait for the team itself, else the line that was sampled. Nothing:
    // none of the functions on the stack is serial.
    std::optional<model::SourceFrame> serial_frame(uint32_t path, uint32_t thread, const std::set<Function>& waiting) const {
        const std::vector<model::SourceFrame> frames = paths_.stack(index_, path);
        bool any = false;
        for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
            const Function function{frame->module, frame->function};
            if (!is_users(*frame) || !is_serial(function, thread))
                continue;
            any = true;
            if (frame->line != 0 && !frame->file.empty() && !waiting.contains(function))
                return *frame;
        }
        return any ? std::optional(paths_.user_frame(index_, path)) : std::nullopt;
    }

    // While others wait for a lock that the thread holds: the lock is reported, and no second time.
    double locked_s(uint32_t thread, const std::set<uint32_t>& serial_paths) const {
        std::map<uint32_t, double> by_waiter;
        for (const model::LockHolder& holder : process_.lock_holders)
            if (holder.holder == thread && (holder.holder_path == 0 || serial_paths.contains(holder.holder_path)))
                by_waiter[holder.thread] += seconds(holder.time_ns);
        double most_s = 0;
        for (const auto& [waiter, time_s] : by_waiter)
            most_s = std::max(most_s, time_s);
        return most_s;
    }

    double doubtful_s(uint32_t thread) const {
        double sum_s = 0;
        std::vector<double> looked_s(process_.threads.size()), disk_s = looked_s;
        for (const model::BlockedSite& site : process_.blocked) {
            if (site.thread >= looked_s.size())
                continue;
            looked_s[site.thread] += seconds(site.time_ns);
            const WaitKind kind = wait_class_of(paths_, index_, site).kind;
            if (kind == WaitKind::file || kind == WaitKind::file_sync || kind == WaitKind::page_in)
                disk_s[site.thread] += seconds(site.time_ns);
        }
        for (size_t other = 0; other < looked_s.size(); ++other) {
            if (other == thread)
                continue;
            const ThreadTimes times = thread_times(process_.threads[other]);
            sum_s += std::max(0.0, times.no_cpu_s - seconds(process_.threads[other].switches.preempted_ns));
            if (looked_s[other] > 0)
                sum_s += times.blocked_s * disk_s[other] / looked_s[other];
        }
        return sum_s;
    }

    model::CallPaths& paths_;
    const uint32_t index_;
    const model::Process& process_;
    const double run_s_, wall_scale_;
    double parallel_s_ = 0;
    std::vector<double> scales_, together_s_, users_together_s_; // by thread; not alone: in all code, with users' code on the stack
    std::map<Function, FunctionTime> functions_;
};

} // namespace

std::vector<SerialPhases> serial_phases_of(model::CallPaths& paths) {
    const model::Run& run = paths.run();
    const double run_s = seconds(run.wall_ns());
    const double followed_ns = followed_wall_ns(run);
    std::vector<SerialPhases> all;
    if (followed_ns <= 0)
        return all;
    for (uint32_t process = 0; process < run.processes.size(); ++process)
        if (auto phases = Finder(paths, process, run_s, run_s / followed_ns).find())
            all.push_back(std::move(*phases));
    return all;
}

} // namespace plumb
