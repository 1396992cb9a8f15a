#include "probe/measure/crew.h"

#include "record/noise/quanta_worker.h"
#include "record/run/node_trace_writer.h"
#include "support/error.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <system_error>

namespace plumb::probe {

namespace {
constexpr uint64_t kLongestSpin_ns = 200'000; // then the CPU of another member is busy with others: it gets this one, too
}

Crew::Crew(const std::vector<int>& cpus) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // signals are for the thread that conducts
    busy_ = cpus.size();
    for (size_t i = 0; i < cpus.size(); ++i)
        members_.push_back(std::make_unique<Member>());
    std::string why_not;
    try {
        for (size_t i = 0; i < cpus.size(); ++i)
            threads_.emplace_back([this, i, cpu = cpus[i]] { serve(i, cpu); });
    } catch (const std::system_error& error) {
        why_not = error.code().message();
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    {
        std::unique_lock lock(mutex_);
        busy_ -= cpus.size() - threads_.size();
        done_.wait(lock, [this] { return busy_ == 0; });
        quits_ = !why_not.empty() || refused_cpu_ >= 0;
    }
    if (!quits_)
        return;
    for (const auto& member : members_)
        member->wakes.notify_one();
    for (std::thread& thread : threads_)
        thread.join();
    if (!why_not.empty())
        throw Error(fmt::format("cannot start {} threads, one for each CPU: {}; probe fewer CPUs with --cpus", cpus.size(),
                                why_not));
    throw Error(fmt::format("cannot run on CPU {}: {}; name others with --cpus", refused_cpu_, std::strerror(refused_errno_)));
}

Crew::~Crew() {
    {
        const std::lock_guard lock(mutex_);
        quits_ = true;
    }
    for (const auto& member : members_)
        member->wakes.notify_one();
    for (std::thread& thread : threads_)
        thread.join();
}

void Crew::run(const std::vector<Order>& orders) {
    std::unique_lock lock(mutex_);
    busy_ = orders.size();
    missing_ = orders.size();
    for (const Order& order : orders) {
        members_[order.member]->task = &order.task;
        members_[order.member]->wakes.notify_one();
    }
    done_.wait(lock, [this] { return busy_ == 0; });
}

void Crew::serve(size_t index, int cpu) {
    prctl(PR_SET_NAME, fmt::format("plumb-probe-{}", cpu % 1000).c_str());
    const bool is_bound = record::bind_thread_to(cpu);
    const int reason = errno;
    Member& own = *members_[index];
    std::unique_lock lock(mutex_);
    if (!is_bound) {
        refused_errno_ = reason;
        refused_cpu_ = cpu;
    }
    while (true) {
        if (--busy_ == 0)
            done_.notify_one();
        own.wakes.wait(lock, [&] { return quits_ || own.task; });
        if (quits_)
            return;
        const Task& task = *own.task;
        lock.unlock();
        const uint64_t begin_ns = record::monotonic_ns();
        for (missing_.fetch_sub(1); missing_.load(std::memory_order_acquire) > 0;)
            if (record::monotonic_ns() - begin_ns > kLongestSpin_ns)
                sched_yield();
        task();
        lock.lock();
        own.task = nullptr;
    }
}

} // namespace plumb::probe
