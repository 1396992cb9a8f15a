#include "analyses/time/time_account.h"

#include "analyses/time/allocator_code.h"
#include "analyses/time/kernel_cause.h"
#include "analyses/time/own_time.h"
#include "analyses/time/openmp_call.h"
#include "analyses/time/parallel_runtime.h"
#include "analyses/time/short_lived.h"
#include "analyses/time/spin_loop_at.h"
#include "analyses/time/team_waits.h"
#include "analyses/time/thread_times.h"
#include "analyses/time/unsampled_kernel.h"
#include "support/idle_share.h"
#include "support/nanoseconds.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace plumb {

namespace {

// Who waits for so long is looked at, however little it runs, where anybody looks.
constexpr double kLongWait_s = 0.1;
// A thread that so few looks or samples met could as well have been met by none.
constexpr uint64_t kFew = 3;

struct Kind {
    TimeClass kind = TimeClass::unknown;
    WaitKind wait = WaitKind::other;
    std::string detail;
    auto operator<=>(const Kind&) const = default;
};

bool is_waiting_for_team(const Kind& kind) { return kind.kind == TimeClass::team && kind.detail.empty(); }

const Kind kUnsampledKernel{TimeClass::kernel, {}, "cause not sampled"};

std::string team_detail(OpenMpCall call) {
    switch (call) {
    case OpenMpCall::entering_critical:
    case OpenMpCall::leaving_critical: return "for a critical or lock";
    case OpenMpCall::making_tasks: return "making tasks";
    case OpenMpCall::waiting_for_tasks: return "waiting for tasks";
    case OpenMpCall::taking_chunks: return "taking chunks";
    case OpenMpCall::other:
    case OpenMpCall::none: break;
    }
    return "";
}

// Adds up lines with their places.
class Lines {
  public:
    void add(const Kind& kind, double time_s) { lines_[kind].seconds += time_s; }
    void add(const Kind& kind, const model::SourceFrame& frame, double time_s) {
        Line& line = lines_[kind];
        line.seconds += time_s;
        Place& place = line.places[{frame.module, frame.file, frame.line, frame.function}];
        place.frame = frame;
        place.seconds += time_s;
    }

    std::vector<AccountLine> take() {
        std::vector<AccountLine> result;
        for (auto& [kind, line] : lines_) {
            if (line.seconds <= 0)
                continue;
            AccountLine entry{kind.kind, kind.wait, kind.detail, line.seconds, {}};
            for (auto& [key, place] : line.places)
                entry.places.push_back({std::move(place.frame), place.seconds});
            std::stable_sort(entry.places.begin(), entry.places.end(),
                             [](const auto& left, const auto& right) { return left.seconds > right.seconds; });
            if (entry.places.size() > kAccountPlaces)
                entry.places.resize(kAccountPlaces);
            result.push_back(std::move(entry));
        }
        std::stable_sort(result.begin(), result.end(),
                         [](const AccountLine& left, const AccountLine& right) { return left.seconds > right.seconds; });
        return result;
    }

  private:
    struct Place {
        model::SourceFrame frame;
        double seconds = 0;
    };
    struct Line {
        double seconds = 0;
        std::map<std::tuple<std::string, std::string, uint32_t, std::string>, Place> places;
    };
    std::map<Kind, Line> lines_;
};

class Accountant {
  public:
    explicit Accountant(model::CallPaths& paths) : paths_(paths), allocator_(paths) {}

    TimeAccount account() {
        TimeAccount account;
        const std::vector<model::Process>& processes = paths_.run().processes;
        for (const model::Process& process : processes)
            account.looked |= !process.blocked.empty();
        for (size_t process = 0; process < processes.size(); ++process)
            add_process(process, account);
        account.lines = lines_.take();
        account.wall = wall_.take();
        scale_wall(account);
        return account;
    }

  private:
    // Looks begin after the run did and end before it: what they saw stands for all of it.
    void scale_wall(TimeAccount& account) const {
        double followed_s = 0;
        for (const AccountLine& line : account.wall)
            followed_s += line.seconds;
        if (followed_s <= 0)
            return;
        account.wall_s = static_cast<double>(paths_.run().wall_ns()) * 1e-9;
        for (AccountLine& line : account.wall) {
            line.seconds *= account.wall_s / followed_s;
            for (AccountLine::Place& place : line.places)
                place.seconds *= account.wall_s / followed_s;
        }
    }

    // What one sampled place is; kept, because threads share places.
    Kind kind_of_sample(size_t process, const model::SampleSite& site) {
        const bool in_kernel = site.kernel_samples * 2 > site.samples;
        const uint64_t key = uint64_t{site.path} << 1 | in_kernel;
        const auto [known, is_new] = kinds_.try_emplace(key);
        if (is_new)
            known->second = classify(process, site.path, in_kernel);
        return known->second;
    }

    Kind classify(size_t process, uint32_t node, bool in_kernel) {
        if (is_own_code(paths_, process, node))
            return {TimeClass::plumb, {}, {}};
        if (allocator_.contains(process, node) || (in_kernel && allocator_.innermost(process, node) != 0))
            return {TimeClass::allocator, {}, {}};
        switch (parallel_runtime_of(paths_, process, node)) {
        case ParallelRuntime::mpi: return {TimeClass::mpi, {}, {}};
        case ParallelRuntime::openmp: return {TimeClass::team, {}, team_detail(openmp_call_of(paths_, process, node))};
        case ParallelRuntime::none: break;
        }
        if (in_kernel && yielding_loop_at(paths_.run().processes[process], node))
            return {TimeClass::spinning, {}, {}};
        if (in_kernel) {
            const KernelCause cause = kernel_cause_of(paths_, process, node);
            if (cause.kind == KernelCause::Kind::own)
                return {TimeClass::plumb, {}, {}};
            if (cause.kind == KernelCause::Kind::system_call && cause.name == "sched_yield")
                return {TimeClass::kernel, {}, "sched_yield: yielding the CPU in a loop"};
            return {TimeClass::kernel, {}, cause.name};
        }
        return {spin_loop_at(paths_.run().processes[process], node) ? TimeClass::spinning : TimeClass::computing, {}, {}};
    }

    Kind kind_of_wait(size_t process, const model::BlockedSite& site) {
        const WaitKind kind = wait_class_of(paths_, process, site).kind;
        if (kind == WaitKind::plumb)
            return {TimeClass::plumb, {}, {}};
        return {TimeClass::blocked, kind, {}};
    }

    // Time of which nothing was seen.
    void add_unseen(Lines& lines, size_t process_index, double time_s) const {
        if (!is_short_lived_) {
            lines.add({TimeClass::unknown, {}, {}}, time_s);
            return;
        }
        model::SourceFrame program;
        program.module = program.function = paths_.run().processes[process_index].name;
        lines.add({TimeClass::short_lived, {}, {}}, program, time_s);
    }

    // `exact_s` divided among `parts` by their weights, or unseen where there are none.
    template <class Part>
    void divide(size_t process, double exact_s, const std::vector<const Part*>& parts, auto weight_of, auto add_part) {
        double sum = 0;
        for (const Part* part : parts)
            sum += weight_of(*part);
        if (sum <= 0) {
            add_unseen(lines_, process, exact_s);
            return;
        }
        for (const Part* part : parts)
            add_part(*part, exact_s * weight_of(*part) / sum);
    }

    void add_process(size_t index, TimeAccount& account) {
        const model::Process& process = paths_.run().processes[index];
        std::vector<std::vector<const model::SampleSite*>> samples(process.threads.size());
        std::vector<std::vector<const model::BlockedSite*>> blocked(process.threads.size());
        for (const model::SampleSite& site : process.samples)
            if (site.thread < samples.size())
                samples[site.thread].push_back(&site);
        for (const model::BlockedSite& site : process.blocked)
            if (site.thread < blocked.size())
                blocked[site.thread].push_back(&site);
        kinds_.clear();
        const std::vector<std::optional<double>> team_waits = team_waits_of(process);
        is_short_lived_ = is_short_lived(paths_.run(), process);
        find_brief_threads(process, samples, blocked);
        for (size_t thread = 0; thread < process.threads.size(); ++thread)
            add_thread(index, thread, samples[thread], blocked[thread], team_waits[thread], account);
    }

    // Threads may come and go between two looks, or two samples. Which of them one meets is a matter of chance, so those that few
    // met stand for those that none met.
    void find_brief_threads(const model::Process& process, const std::vector<std::vector<const model::SampleSite*>>& samples,
                            const std::vector<std::vector<const model::BlockedSite*>>& blocked) {
        brief_samples_.clear();
        brief_waits_.clear();
        brief_run_s_ = brief_life_s_ = 0;
        for (size_t thread = 1; thread < process.threads.size(); ++thread) {
            uint64_t sampled = 0, looks = 0;
            for (const model::SampleSite* site : samples[thread])
                sampled += site->samples;
            for (const model::BlockedSite* site : blocked[thread])
                looks += site->looks;
            const ThreadTimes times = thread_times(process.threads[thread]);
            if (sampled > 0 && sampled <= kFew) {
                brief_samples_.insert(brief_samples_.end(), samples[thread].begin(), samples[thread].end());
                brief_run_s_ = std::max(brief_run_s_, times.run_s);
            }
            if (looks > 0 && looks <= kFew) {
                brief_waits_.insert(brief_waits_.end(), blocked[thread].begin(), blocked[thread].end());
                brief_life_s_ = std::max(brief_life_s_, times.life_s());
            }
        }
    }

    // The samples that say what it ran: its own, or those of threads like it.
    const std::vector<const model::SampleSite*>& samples_for(const ThreadAccount& thread,
                                                            const std::vector<const model::SampleSite*>& own) const {
        return own.empty() && thread.thread != 0 && thread.run_s <= brief_run_s_ ? brief_samples_ : own;
    }

    void add_thread(size_t process_index, size_t thread_index, const std::vector<const model::SampleSite*>& samples,
                    const std::vector<const model::BlockedSite*>& blocked, std::optional<double> team_wait_s,
                    TimeAccount& account) {
        const model::Process& process = paths_.run().processes[process_index];
        const model::Thread& thread = process.threads[thread_index];
        ThreadAccount entry;
        entry.process = static_cast<uint32_t>(process_index);
        entry.thread = static_cast<uint32_t>(thread_index);
        const ThreadTimes times = thread_times(thread);
        entry.run_s = times.run_s;
        entry.no_cpu_s = times.no_cpu_s;
        entry.blocked_s = times.blocked_s;
        entry.life_s = times.life_s();
        entry.idles = thread_index != 0 && thread.tid != process.pid && idles(process_index, entry, blocked);
        account.total_s += entry.life_s;
        account.threads.push_back(entry);

        const UnsampledKernel unsampled = unsampled_kernel_of(paths_.run(), process, static_cast<uint32_t>(thread_index));
        const double kernel_share = unsampled.share;
        const std::vector<const model::SampleSite*>& ran = samples_for(entry, samples);
        add_wall(process_index, thread, ran, blocked, unsampled);

        const double idle_share = share_between_regions(process_index, entry, samples, blocked, team_wait_s);
        if (idle_share > 0 && !entry.idles)
            ++account.idle_threads;
        if (kernel_share > 0)
            lines_.add(kUnsampledKernel, kernel_share * entry.run_s);
        const double sampled_s = (1 - kernel_share) * entry.run_s;
        if (sampled_s > 0)
            divide(process_index, sampled_s, ran,
                   [&](const model::SampleSite& site) { return unsampled.weight_ns(process, site); },
                   [&](const model::SampleSite& site, double time_s) {
                       const Kind kind = kind_of_sample(process_index, site);
                       const double idle_s = is_waiting_for_team(kind) ? time_s * idle_share : 0;
                       account.idle_s += idle_s;
                       lines_.add(kind, paths_.user_frame(process_index, site.path), time_s - idle_s);
                   });
        if (entry.no_cpu_s > 0)
            lines_.add({TimeClass::no_cpu, {}, {}}, entry.no_cpu_s);
        const auto add_wait = [&](const model::BlockedSite& site, double time_s) {
            const Kind kind = kind_of_wait(process_index, site);
            if (kind.wait == WaitKind::barrier) {
                account.idle_s += time_s * idle_share;
                time_s -= time_s * idle_share;
            }
            if (kind.wait == WaitKind::thread_end || kind.wait == WaitKind::child)
                account.handed_over_s += time_s;
            else if (site.path == 0)
                lines_.add(kind, time_s);
            else
                lines_.add(kind, paths_.user_frame(process_index, site.path), time_s);
        };
        const bool is_brief = thread_index != 0 && blocked.empty() && entry.life_s <= brief_life_s_;
        if (entry.idles) {
            account.idle_s += entry.blocked_s;
            ++account.idle_threads;
        } else if (is_brief && entry.blocked_s > 0) {
            divide(process_index, entry.blocked_s, brief_waits_,
                   [](const model::BlockedSite& site) { return static_cast<double>(site.looks); }, add_wait);
        } else if (blocked.empty() && entry.blocked_s >= kLongWait_s) {
            lines_.add({TimeClass::unknown, {}, {}}, entry.blocked_s); // not too short to be looked at, whatever it ran
        } else if (entry.blocked_s > 0) {
            divide(process_index, entry.blocked_s, blocked,
                   [](const model::BlockedSite& site) { return static_cast<double>(site.time_ns); }, add_wait);
        }
    }

    // Of the time that a thread of an OpenMP team spends in the runtime, spinning or blocked: the share between regions, when
    // it has no part in any and waits by design. The shim knows how long it waited in regions: the rest.
    double share_between_regions(size_t process, const ThreadAccount& thread, const std::vector<const model::SampleSite*>& samples,
                                 const std::vector<const model::BlockedSite*>& blocked, std::optional<double> waited_s) {
        if (!waited_s)
            return 0;
        double spinning = 0, all_samples = 0, at_barriers = 0, all_looks = 0;
        for (const model::SampleSite* site : samples) {
            all_samples += static_cast<double>(site->time_ns);
            if (is_waiting_for_team(kind_of_sample(process, *site)))
                spinning += static_cast<double>(site->time_ns);
        }
        for (const model::BlockedSite* site : blocked) {
            all_looks += static_cast<double>(site->time_ns);
            if (wait_class_of(paths_, process, *site).kind == WaitKind::barrier)
                at_barriers += static_cast<double>(site->time_ns);
        }
        const double in_runtime_s = (all_samples > 0 ? spinning / all_samples * thread.run_s : 0) +
                                    (all_looks > 0 ? at_barriers / all_looks * thread.blocked_s : 0);
        return in_runtime_s > 0 ? std::clamp(1 - *waited_s / in_runtime_s, 0.0, 1.0) : 0;
    }

    void add_wall(size_t process, const model::Thread& thread, const std::vector<const model::SampleSite*>& samples,
                  const std::vector<const model::BlockedSite*>& blocked, const UnsampledKernel& unsampled) {
        const auto weight_ns = [&](const model::SampleSite* site) {
            return unsampled.weight_ns(paths_.run().processes[process], *site);
        };
        const double kernel_share = unsampled.share;
        double sampled_ns = 0;
        for (const model::SampleSite* site : samples)
            sampled_ns += weight_ns(site);
        const double no_cpu_s = seconds(thread.wall_no_cpu_ns), unseen_s = seconds(thread.wall_unseen_ns);
        const double on_cpu_s = seconds(thread.wall_on_cpu_ns());
        if (unseen_s > 0)
            add_unseen(wall_, process, unseen_s);
        const double running_s = (1 - kernel_share) * on_cpu_s;
        if (no_cpu_s > 0)
            wall_.add({TimeClass::no_cpu, {}, {}}, no_cpu_s);
        if (kernel_share > 0 && on_cpu_s > 0)
            wall_.add(kUnsampledKernel, kernel_share * on_cpu_s);
        if (running_s > 0 && sampled_ns <= 0)
            add_unseen(wall_, process, running_s);
        else if (running_s > 0)
            for (const model::SampleSite* site : samples)
                wall_.add(kind_of_sample(process, *site), paths_.user_frame(process, site->path),
                          running_s * weight_ns(site) / sampled_ns);
        for (const model::BlockedSite* site : blocked)
            if (site->wall_ns > 0) {
                const Kind kind = kind_of_wait(process, *site);
                if (site->path == 0)
                    wall_.add(kind, seconds(site->wall_ns));
                else
                    wall_.add(kind, paths_.user_frame(process, site->path), seconds(site->wall_ns));
            }
    }

    bool idles(size_t process, const ThreadAccount& thread, const std::vector<const model::BlockedSite*>& blocked) {
        if (!is_idle(thread.blocked_s, thread.life_s) || blocked.empty())
            return false;
        std::map<uint32_t, double> by_path;
        double all = 0;
        const model::BlockedSite* heaviest = nullptr;
        double most = 0;
        for (const model::BlockedSite* site : blocked) {
            all += static_cast<double>(site->time_ns);
            double& sum = by_path[site->path];
            sum += static_cast<double>(site->time_ns);
            if (sum > most) {
                most = sum;
                heaviest = site;
            }
        }
        if (all <= 0 || !is_idle(most / all * thread.blocked_s, thread.life_s))
            return false;
        switch (wait_class_of(paths_, process, *heaviest).kind) {
        case WaitKind::condition:
        case WaitKind::events:
        case WaitKind::pipe:
        case WaitKind::network:
        case WaitKind::futex:
        case WaitKind::parked:
        case WaitKind::signal:
        case WaitKind::sleep:
        case WaitKind::mpi: // progress threads of the library
            return true;
        default:
            return false;
        }
    }

    model::CallPaths& paths_;
    AllocatorCode allocator_;
    Lines lines_, wall_;
    // Of the process at hand.
    bool is_short_lived_ = false;
    std::vector<const model::SampleSite*> brief_samples_;
    std::vector<const model::BlockedSite*> brief_waits_;
    double brief_run_s_ = 0, brief_life_s_ = 0; // the longest of these threads
    std::unordered_map<uint64_t, Kind> kinds_; // path << 1 | in the kernel
};

} // namespace

TimeAccount time_account(model::CallPaths& paths) { return Accountant(paths).account(); }

double TimeAccount::seconds_of(TimeClass kind) const {
    double sum = 0;
    for (const AccountLine& line : lines)
        if (line.kind == kind)
            sum += line.seconds;
    return sum;
}

double TimeAccount::imbalance_s() const {
    double sum = idle_s + handed_over_s;
    for (const AccountLine& line : lines)
        sum += line.seconds;
    return sum - total_s;
}

const char* to_string(TimeClass kind) {
    switch (kind) {
    case TimeClass::computing: return "computing";
    case TimeClass::allocator: return "allocator";
    case TimeClass::kernel: return "kernel";
    case TimeClass::mpi: return "mpi";
    case TimeClass::spinning: return "spinning";
    case TimeClass::team: return "openmp-runtime";
    case TimeClass::plumb: return "plumb";
    case TimeClass::no_cpu: return "waiting-for-cpu";
    case TimeClass::blocked: return "blocked";
    case TimeClass::short_lived: return "short-lived";
    case TimeClass::unknown: break;
    }
    return "unknown";
}

std::string words_of(const AccountLine& line) {
    switch (line.kind) {
    case TimeClass::computing: return "computing";
    case TimeClass::allocator: return "memory allocator";
    case TimeClass::kernel: return "kernel" + (line.detail.empty() ? "" : ": " + line.detail);
    case TimeClass::mpi: return "running in MPI";
    case TimeClass::spinning: return "spinning for another thread";
    case TimeClass::team:
        return "in the OpenMP runtime (" + (line.detail.empty() ? std::string("spinning for the team") : line.detail) + ")";
    case TimeClass::plumb: return "plumb itself";
    case TimeClass::no_cpu: return "runnable, waiting for a CPU";
    case TimeClass::blocked: return words_of(line.wait);
    case TimeClass::short_lived: return "in processes too short to sample";
    case TimeClass::unknown: break;
    }
    return "unknown";
}

} // namespace plumb
