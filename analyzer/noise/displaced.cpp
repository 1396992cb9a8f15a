#include "noise/displaced.h"

#include "noise/bursts.h"

#include <algorithm>
#include <map>
#include <utility>

namespace plumb::noise {

namespace {

constexpr uint64_t kBusyPart = 10; // a thread is busy if it ran for a tenth of what the busiest watched thread of its host did

struct Event {
    const model::Preemption* preemption = nullptr;
    size_t watched = 0, place = 0; // whose it is, and where it stands there
};

// What a thread lost last: to whom, on which CPU, until when.
struct Latest {
    const model::Preemption* origin = nullptr;
    uint64_t end_ns = 0, longest_ns = 0; // the longest slice of the program's event

    bool goes_on_until(const model::Preemption& next) const {
        const auto turn_ns = static_cast<uint64_t>(longest_turn_s(static_cast<double>(longest_ns) * 1e-9) * 1e9);
        return origin && next.begin_ns <= end_ns + turn_ns;
    }
    bool leads_to(const model::Preemption& next) const { return goes_on_until(next) && origin->cpu != next.cpu; }
};

bool is_by_program(const model::Preemption& one) { return one.taker == 0 && !one.by_recorder; }

const model::Process& process_of(const model::Run& run, const WatchedThread& one) { return run.processes[one.process]; }

const model::Thread* thread_of(const model::Run& run, const WatchedThread& one) {
    const std::vector<model::Thread>& threads = process_of(run, one).threads;
    return one.thread < threads.size() ? &threads[one.thread] : nullptr;
}

// Whether each busy thread of the host could have a CPU of its own.
bool has_enough_cpus(const model::Run& run, const std::vector<WatchedThread>& watched, uint32_t host) {
    uint64_t most_ns = 0;
    for (const WatchedThread& one : watched)
        if (const model::Thread* thread = thread_of(run, one); thread && one.host == host)
            most_ns = std::max(most_ns, thread->run_ns);
    size_t busy = 0;
    for (const model::Process& process : run.processes)
        if (process.host == run.hosts[host].name)
            busy += static_cast<size_t>(std::ranges::count_if(
                process.threads, [&](const model::Thread& thread) { return thread.run_ns * kBusyPart > most_ns; }));
    const model::Host& of_host = run.hosts[host];
    return busy <= (of_host.allowed_cpus.empty() ? static_cast<size_t>(std::max(0, of_host.cpu_count)) : of_host.allowed_cpus.size());
}

class Following {
  public:
    Following(const model::Run& run, const std::vector<WatchedThread>& watched) : watched_(watched), latest_(watched.size()) {
        for (size_t i = 0; i < watched.size(); ++i)
            if (const model::Thread* thread = thread_of(run, watched[i]))
                of_tid_[{watched[i].host, thread->tid}] = i;
    }

    // By time. The preemption by a program that led to this one.
    const model::Preemption* take(const Event& event) {
        const model::Preemption& one = *event.preemption;
        Latest& own = latest_[event.watched];
        if (is_by_program(one)) {
            const uint64_t length_ns = one.end_ns - one.begin_ns, before_ns = own.goes_on_until(one) ? own.longest_ns : 0;
            if (!is_beside(static_cast<double>(length_ns), static_cast<double>(before_ns)))
                own = {&one, one.end_ns, std::max(before_ns, length_ns)};
            return nullptr;
        }
        const auto peer = of_tid_.find({watched_[event.watched].host, one.taker});
        if (one.taker == 0 || peer == of_tid_.end())
            return nullptr;
        const Latest& before = own.leads_to(one) ? own : latest_[peer->second];
        if (!before.leads_to(one))
            return nullptr;
        own = {before.origin, one.end_ns, before.longest_ns};
        return own.origin;
    }

  private:
    const std::vector<WatchedThread>& watched_;
    std::vector<Latest> latest_; // of each watched thread
    std::map<std::pair<uint32_t, uint32_t>, size_t> of_tid_; // by host; a number given again: the last thread
};

} // namespace

std::vector<std::vector<const model::Preemption*>> displaced_by(const model::Run& run, const std::vector<WatchedThread>& watched) {
    std::vector<std::vector<const model::Preemption*>> result(watched.size());
    std::map<uint32_t, std::vector<Event>> hosts;
    for (size_t i = 0; i < watched.size(); ++i) {
        const model::Thread* thread = thread_of(run, watched[i]);
        if (!thread)
            continue;
        result[i].resize(thread->preemptions.size());
        for (size_t place = 0; place < thread->preemptions.size(); ++place)
            hosts[watched[i].host].push_back({&thread->preemptions[place], i, place});
    }
    Following following(run, watched);
    for (auto& [host, events] : hosts) {
        if (host >= run.hosts.size() || !has_enough_cpus(run, watched, host))
            continue;
        std::ranges::stable_sort(events, {}, [](const Event& event) { return event.preemption->begin_ns; });
        for (const Event& event : events)
            result[event.watched][event.place] = following.take(event);
    }
    return result;
}

} // namespace plumb::noise
