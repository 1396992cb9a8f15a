#include "record/watch/threads/wall_time.h"

#include "record/watch/threads/held_back.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace plumb::record {

namespace {

constexpr size_t kMostRemembered = 128 * 1024; // threads of looks: about 10 MiB

void change(uint64_t& field, double by_ns, int sign) {
    const auto amount = static_cast<uint64_t>(by_ns);
    update(field, sign > 0 ? field + amount : field - std::min(field, amount));
}

// Looks on either side that say how much of its time a thread had a CPU: waits for one last longer than the time between two looks.
constexpr size_t kNear = 5;

struct Spent {
    double ran_ns = 0, delayed_ns = 0;
    void add(const LookedAt& look, int sign) {
        ran_ns += sign * static_cast<double>(look.ran_ns);
        delayed_ns += sign * static_cast<double>(look.delayed_ns);
    }
    double sum_ns() const { return ran_ns + delayed_ns; }
    double no_cpu_share() const { return sum_ns() > 0 ? delayed_ns / sum_ns() : 0; }
};

std::vector<ThreadMoment> moments_of(const std::vector<LookedAt>& threads) {
    std::vector<ThreadMoment> moments;
    moments.reserve(threads.size());
    for (const LookedAt& thread : threads)
        moments.push_back(thread.moment);
    return moments;
}

} // namespace

void WallTime::follow(uint64_t now_ns, std::vector<LookedAt> threads, std::vector<LookedAtPair> pairs) {
    const auto elapsed_ns = static_cast<double>(now_ns - followed_ns_);
    followed_ns_ = now_ns;
    remembered_ += threads.size() + pairs.size();
    for (LookedAt& thread : threads) {
        Spent spent;
        spent.add(thread, 1);
        thread.no_cpu_share = spent.no_cpu_share();
    }
    looks_.push_back({now_ns, elapsed_ns, std::move(threads), std::move(pairs)});
    add(looks_.back(), first_pid_, 1);
    if (remembered_ > kMostRemembered)
        settle();
}

void WallTime::settle() {
    std::vector<std::vector<ThreadMoment>> moments;
    moments.reserve(looks_.size());
    for (Look& look : looks_) {
        moments.push_back(moments_of(look.threads));
        add(look, first_pid_, -1);
    }
    const std::vector<uint32_t> roots = roots_in_hindsight(moments, first_pid_);
    const HeldBack held_back(moments);
    judge_running();
    for (size_t look = 0; look < looks_.size(); ++look)
        add(looks_[look], roots[look], 1, &held_back.at(look));
    looks_.clear();
    remembered_ = 0;
}

// So that on average each thread waits as long as it was blocked, and lacks a CPU as long as it did.
void WallTime::judge_running() {
    std::unordered_map<uint32_t, std::vector<LookedAt*>> threads; // the looks at each
    for (Look& look : looks_)
        for (LookedAt& thread : look.threads)
            threads[thread.moment.tid].push_back(&thread);
    for (auto& [tid, looks] : threads) {
        Spent all, near;
        double waiting_ns = 0, elapsed_ns = 0;
        for (const LookedAt* look : looks) {
            all.add(*look, 1);
            elapsed_ns += static_cast<double>(look->elapsed_ns);
            waiting_ns += look->site ? static_cast<double>(look->elapsed_ns) : 0;
        }
        const double off_ns = std::max(0.0, elapsed_ns - all.sum_ns());
        const double ran = waiting_ns > off_ns ? 1 - off_ns / waiting_ns : 0;
        for (size_t next = 0; next < std::min(kNear, looks.size()); ++next)
            near.add(*looks[next], 1);
        for (size_t look = 0; look < looks.size(); ++look) {
            if (look + kNear < looks.size())
                near.add(*looks[look + kNear], 1);
            if (look > kNear)
                near.add(*looks[look - kNear - 1], -1);
            looks[look]->moment.ran = ran;
            // One that waits may have stood still since the look before, and run at other times. One that could run, and of which
            // nothing was counted for so long, waits for a CPU if switches say so; the kernel may count late where it has no tick.
            const bool is_silent = near.sum_ns() <= 0 && looks[look]->lacks_cpu;
            looks[look]->no_cpu_share = looks[look]->site ? all.no_cpu_share() : is_silent ? 1 : near.no_cpu_share();
        }
    }
}

void WallTime::add(Look& look, uint32_t from_tid, int sign, const WaitChain::Holders* holders) {
    const std::vector<ThreadMoment> moments = moments_of(look.threads);
    WaitChain chain(moments, holders);
    chain.follow(from_tid);
    for (const WaitChain::Share& end : chain.ends())
        count(look, end, chain, sign);
    for (const WaitChain::Share& link : chain.links())
        if (trace::LockHolder* holder = look.threads[link.thread].holder)
            change(holder->wall_ns, look.elapsed_ns * link.share, sign);
    for (const WaitChain::Edge& edge : chain.edges())
        for (const LookedAtPair& pair : look.pairs)
            if (pair.from == edge.from && pair.to == edge.to && pair.record)
                change(pair.record->wall_ns, look.elapsed_ns * edge.share, sign);
}

void WallTime::count(Look& look, const WaitChain::Share& end, const WaitChain& chain, int sign) {
    LookedAt& thread = look.threads[end.thread];
    const double part_ns = look.elapsed_ns * end.share;
    if (thread.site && !end.ran) {
        change(thread.site->wall_ns, part_ns, sign);
        if (chain.is_alone(end.thread))
            change(thread.site->alone_ns, part_ns, sign);
        if (thread.moment.sleeps && chain.is_quiet(end.thread)) {
            change(thread.site->quiet_ns, part_ns, sign);
            if (thread.overdue)
                change(thread.site->overdue_ns, part_ns, sign);
        }
    } else if (end.ran || thread.moment.state == ThreadMoment::State::runs) {
        if (!thread.wall)
            thread.wall = record_of_(thread.moment.tid, thread.moment.pid, look.now_ns);
        if (!thread.wall)
            return;
        change(thread.wall->looks, 1, sign);
        change(thread.wall->running_ns, part_ns, sign);
        change(thread.wall->no_cpu_ns, part_ns * thread.no_cpu_share, sign);
        update(thread.wall->last_ns, std::max(thread.wall->last_ns, look.now_ns));
    }
}

namespace {

using State = ThreadMoment::State;

class Hindsight {
  public:
    explicit Hindsight(const std::vector<std::vector<ThreadMoment>>& looks) : looks_(looks) {
        for (size_t look = 0; look < looks.size(); ++look)
            for (const ThreadMoment& thread : looks[look]) {
                last_[thread.tid] = look;
                Rest& rest = rests_[thread.tid];
                ++rest.looks;
                rest.sleeping += thread.sleeps && !thread.at_set_time;
            }
    }

    std::vector<uint32_t> roots(uint32_t first_pid) const {
        std::vector<uint32_t> roots(looks_.size(), first_pid);
        uint32_t root = first_pid, waiter = 0; // that waited for the root's end
        for (size_t look = looks_.size(); look-- > 0;) {
            std::unordered_map<uint32_t, const ThreadMoment*> threads;
            for (const ThreadMoment& thread : looks_[look])
                threads[thread.tid] = &thread;
            if (!threads.contains(root)) { // not begun yet
                root = beginner_of(root, threads, look, first_pid);
                waiter = 0;
            }
            // A join may be for one that joins others itself.
            for (size_t steps = 0; steps < threads.size(); ++steps) {
                const auto found = threads.find(root);
                const uint32_t next = found == threads.end() ? 0 : ender_of(*found->second, threads);
                if (next == 0)
                    break;
                waiter = root;
                root = next;
            }
            roots[look] = root;
            if (looks_for_work_of(root, waiter, threads)) {
                roots[look] = waiter;
                if (looks_often(root)) { // it ended when it saw what the other one had done: that one led there
                    root = waiter;
                    waiter = 0;
                }
            }
        }
        return roots;
    }

  private:
    using Threads = std::unordered_map<uint32_t, const ThreadMoment*>;

    // One that sleeps while the thread runs that will wait for its end: it is no more than a look for what that one does.
    static bool looks_for_work_of(uint32_t root, uint32_t waiter, const Threads& threads) {
        const auto sleeping = threads.find(root), running = threads.find(waiter);
        return sleeping != threads.end() && running != threads.end() && sleeping->second->sleeps &&
               running->second->state == State::runs;
    }

    // A thread that sleeps so much of the time does little besides looking.
    bool looks_often(uint32_t tid) const {
        constexpr size_t kLooksAsleep = 3; // one of so many
        const Rest& rest = rests_.at(tid);
        return rest.sleeping * kLooksAsleep >= rest.looks;
    }

    // The thread that ends the wait of one that waits for a thread's or a child's end; 0: it does not, or none is known.
    uint32_t ender_of(const ThreadMoment& waiting, const Threads& threads) const {
        if (waiting.state == State::for_end)
            return threads.contains(waiting.waits_for) && !threads.at(waiting.waits_for)->idles ? waiting.waits_for : 0;
        if (waiting.state != State::for_child)
            return 0;
        uint32_t first = 0;
        for (const auto& [tid, thread] : threads) // the child that ends first ends a wait for any of them
            if (tid == thread->pid && thread->parent_pid == waiting.pid &&
                (waiting.waits_for == 0 || waiting.waits_for == tid) && (first == 0 || last_.at(tid) < last_.at(first) ||
                (last_.at(tid) == last_.at(first) && tid < first)))
                first = tid;
        return first;
    }

    // Threads are taken to be begun by the first thread of their process, which is seldom wrong for long.
    uint32_t beginner_of(uint32_t root, const Threads& threads, size_t look, uint32_t first_pid) const {
        for (size_t later = look + 1; later < looks_.size(); ++later)
            for (const ThreadMoment& thread : looks_[later])
                if (thread.tid == root) {
                    const uint32_t begun_by = thread.tid == thread.pid ? thread.parent_pid : thread.pid;
                    return threads.contains(begun_by) ? begun_by : first_pid;
                }
        return first_pid;
    }

    const std::vector<std::vector<ThreadMoment>>& looks_;
    struct Rest {
        size_t looks = 0, sleeping = 0;
    };
    std::unordered_map<uint32_t, size_t> last_; // look that saw a thread last
    std::unordered_map<uint32_t, Rest> rests_;
};

} // namespace

std::vector<uint32_t> roots_in_hindsight(const std::vector<std::vector<ThreadMoment>>& looks, uint32_t first_pid) {
    return Hindsight(looks).roots(first_pid);
}

} // namespace plumb::record
