#include "record/noise/quanta_worker.h"

#include "record/noise/quantum.h"
#include "record/run/node_trace_writer.h"
#include "support/error.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

namespace plumb::record {

bool bind_thread_to(int cpu) {
    const size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> one(CPU_ALLOC(cpu + 1), [](cpu_set_t* set) { CPU_FREE(set); });
    if (!one) {
        errno = ENOMEM;
        return false;
    }
    CPU_ZERO_S(bytes, one.get());
    CPU_SET_S(cpu, bytes, one.get());
    return sched_setaffinity(0, bytes, one.get()) == 0;
}

QuantaWorkers::QuantaWorkers(const std::vector<int>& cpus, uint64_t quantum_ns) {
    for (const int cpu : cpus) {
        workers_.push_back(std::make_unique<Worker>());
        workers_.back()->cpu = cpu;
    }
    try {
        for (const auto& worker : workers_)
            threads_.emplace_back([this, quantum_ns, own = worker.get()] { work(*own, quantum_ns); });
    } catch (const std::system_error& error) {
        stop();
        throw Error(fmt::format("cannot start {} threads, one for each CPU: {}; measure fewer CPUs with --cpus", cpus.size(),
                                error.code().message()));
    }
    for (size_t ready = 0; (ready = ready_.load()) < workers_.size();)
        ready_.wait(ready);
    if (const int reason = refused_errno_.load()) {
        stop();
        throw Error(fmt::format("cannot run on CPU {}: {}; name others with --cpus", refused_cpu_.load(), std::strerror(reason)));
    }
}

QuantaWorkers::~QuantaWorkers() { stop(); }

void QuantaWorkers::go() {
    state_ = works;
    state_.notify_all();
}

void QuantaWorkers::stop() {
    state_ = ends;
    state_.notify_all();
    for (std::thread& thread : threads_)
        if (thread.joinable())
            thread.join();
}

void QuantaWorkers::work(Worker& worker, uint64_t quantum_ns) {
    prctl(PR_SET_NAME, fmt::format("plumb-quanta-{}", worker.cpu % 100).c_str());
    worker.tid = static_cast<uint32_t>(syscall(SYS_gettid));
    uint64_t rounds = 0;
    if (bind_thread_to(worker.cpu)) {
        rounds = rounds_for(quantum_ns);
    } else {
        refused_errno_ = errno;
        refused_cpu_ = worker.cpu;
    }
    ready_.fetch_add(1);
    ready_.notify_all();
    state_.wait(waits);
    uint64_t value = worker.tid, last_ns = worker.begin_ns = monotonic_ns();
    while (state_.load(std::memory_order_relaxed) == works) {
        value = do_work(rounds, value);
        const uint64_t now_ns = monotonic_ns();
        worker.ring.put(now_ns - last_ns);
        last_ns = now_ns;
    }
}

} // namespace plumb::record
