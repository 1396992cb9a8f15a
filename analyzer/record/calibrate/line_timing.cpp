#include "record/calibrate/line_timing.h"

#include "record/run/node_trace_writer.h"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <pthread.h>
#include <sched.h>
#include <system_error>
#include <thread>
#include <vector>

namespace plumb::record {

namespace {

constexpr size_t kEnough = 9, kFewest = 3; // timings of each kind
constexpr uint64_t kIterationsARound = 16, kLeast_ns = 100'000;
constexpr uint64_t kLongest_ns = 800'000'000; // of all, on a busy machine; else some ten milliseconds
constexpr size_t kApart = 512; // bytes: no prefetcher takes the lines for neighbours
constexpr unsigned kMostWords = 3;        // two threads, eight words a line
constexpr unsigned kLongestWork = 1 << 8; // steps of some nanoseconds
constexpr double kWithoutPause = 0.8;     // of the time: loops of little else

using Word = std::atomic<uint64_t>;
enum class Form { load, store, update, locked };

// In assembler where that is the common machine, so that a build without optimisation measures the same.
template <Form form> inline void access(Word* word) {
#if defined(__x86_64__)
    if constexpr (form == Form::load) {
        uint64_t value;
        asm volatile("movq (%[at]), %[value]" : [value] "=r"(value) : [at] "r"(word) : "memory");
    } else if constexpr (form == Form::store) {
        asm volatile("movq %[at], (%[at])" : : [at] "r"(word) : "memory");
    } else if constexpr (form == Form::update) {
        asm volatile("addq $1, (%[at])" : : [at] "r"(word) : "memory", "cc");
    } else {
        asm volatile("lock addq $1, (%[at])" : : [at] "r"(word) : "memory", "cc");
    }
#else
    if constexpr (form == Form::load)
        static_cast<void>(word->load(std::memory_order_relaxed));
    else if constexpr (form == Form::store)
        word->store(1, std::memory_order_relaxed);
    else if constexpr (form == Form::update)
        word->store(word->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    else
        word->fetch_add(1);
#endif
}

// A calculation, each step of which waits for the one before.
inline void work(unsigned steps, uint64_t& value) {
    for (unsigned i = 0; i < steps; ++i) {
        value = value * 5 + 1;
#if defined(__GNUC__)
        asm volatile("" : "+r"(value));
#endif
    }
}

struct Task {
    unsigned words = 1; // 0: the calculation alone
    unsigned work = 0;  // steps between the accesses
};
using Round = void (*)(Word*, const Task&);

template <Form form> void round_of(Word* word, const Task& task) {
    uint64_t value = 1;
    for (uint64_t i = 0; i < kIterationsARound; ++i) {
        for (unsigned at = 0; at < task.words; ++at)
            access<form>(word + at);
        work(task.work, value);
    }
}

bool move_to(int cpu) {
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return false;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(cpu), &one);
    return pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
}

uint64_t thread_cpu_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

// A thread on the other CPU that uses a word without rest.
class Opponent {
  public:
    Opponent(int cpu, Round round, const Task& task, Word* word)
        : word_(word), thread_([this, cpu, round, task] {
              failed_.store(!move_to(cpu));
              while (!stop_.load(std::memory_order_relaxed) && !failed_.load(std::memory_order_relaxed)) {
                  round(word_.load(std::memory_order_relaxed), task);
                  rounds_.fetch_add(1, std::memory_order_relaxed);
              }
          }) {}
    ~Opponent() {
        stop_.store(true);
        thread_.join();
    }
    uint64_t rounds() const { return rounds_.load(std::memory_order_relaxed); }

    // Returns when it runs and uses this word. False: it does not come to run.
    bool turns_to(Word* word, uint64_t until_ns) {
        word_.store(word, std::memory_order_relaxed);
        for (const uint64_t begin = rounds(); rounds() < begin + 2;)
            if (failed_.load() || monotonic_ns() > until_ns)
                return false;
        return true;
    }

  private:
    alignas(kApart) std::atomic<uint64_t> rounds_{0};
    alignas(kApart) std::atomic<bool> stop_{false};
    std::atomic<bool> failed_{false};
    std::atomic<Word*> word_;
    std::thread thread_; // last: it uses the others
};

// Picoseconds of one iteration; 0: the opponent was not there all the time.
uint64_t run(Round round, const Task& task, Word* word, const Opponent* opponent) {
    uint64_t rounds = 0, took_ns = 0;
    const uint64_t opposed = opponent ? opponent->rounds() : 0, begin_ns = thread_cpu_ns();
    do {
        for (int i = 0; i < 32; ++i)
            round(word, task);
        rounds += 32;
        took_ns = thread_cpu_ns() - begin_ns;
    } while (took_ns < kLeast_ns);
    const bool was_there = !opponent || opponent->rounds() - opposed >= rounds / 8;
    return was_there ? std::max<uint64_t>(took_ns * 1000 / (rounds * kIterationsARound), 1) : 0;
}

struct Times { // of one access
    uint64_t own_ps = 0, contended_ps = 0;
    double share = 0; // of the time, contended
};

uint64_t median(std::vector<uint64_t>& values) {
    const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

// In turn, because the clock rate may change. On a busy machine the two threads run at the same time only now and then:
// it is waited for, though not for long.
Times time_task(int other_cpu, Round round, Round other_round, const Task& task, char* memory, uint64_t until_ns) {
    std::vector<uint64_t> own, contended, without;
    Word* word = reinterpret_cast<Word*>(memory);
    Word* far = reinterpret_cast<Word*>(memory + kApart);
    Word* near = word + kMostWords;
    Opponent opponent(other_cpu, other_round, task, far);
    while (own.size() < kEnough || contended.size() < kEnough) {
        const bool contends = own.size() > contended.size();
        if (!opponent.turns_to(contends ? near : far, until_ns))
            break;
        if (const uint64_t ps = run(round, task, word, &opponent))
            (contends ? contended : own).push_back(ps);
        without.push_back(run(round, {0, task.work}, word, nullptr));
    }
    if (own.size() < kFewest || contended.size() < kFewest)
        return {};
    const uint64_t own_ps = median(own), contended_ps = median(contended);
    const uint64_t work_ps = task.work == 0 ? 0 : median(without);
    const auto each = [&](uint64_t ps) { return std::max<uint64_t>((ps - std::min(ps, work_ps)) / task.words, 1); };
    return {each(own_ps), each(contended_ps),
            static_cast<double>(contended_ps - std::min(contended_ps, work_ps)) / static_cast<double>(contended_ps)};
}

// With more and more calculations in between, until the accesses take as little of the time as is wanted.
Times time_form(int other_cpu, Round round, Round other_round, const LineAccesses& accesses, char* memory,
                uint64_t until_ns) {
    Task task{std::clamp(accesses.words, 1u, kMostWords), 0};
    Times times = time_task(other_cpu, round, other_round, task, memory, until_ns);
    if (accesses.share >= kWithoutPause)
        return times;
    for (task.work = 2; times.share > accesses.share && task.work <= kLongestWork; task.work *= 2) {
        const Times next = time_task(other_cpu, round, other_round, task, memory, until_ns);
        if (next.contended_ps == 0)
            break;
        times = next;
    }
    return times;
}

} // namespace

void LineAccesses::add(uint16_t flags) {
    const bool loads = flags & trace::kAlignLoad, stores = flags & trace::kAlignStore;
    if (flags & trace::kAlignLocked)
        locked = true;
    else if (loads && stores)
        update = true;
    else if (stores)
        store = true;
    else if (loads)
        load = true;
}

trace::LineTransfer time_line_transfers(int cpu, int other_cpu, const LineAccesses& accesses) {
    trace::LineTransfer record{};
    record.cpu = cpu;
    record.other_cpu = other_cpu;
    alignas(4096) static char memory[4096];
    const auto time_all = [&] {
        if (!move_to(cpu))
            return;
        const uint64_t until_ns = monotonic_ns() + kLongest_ns;
        const auto fill = [&](bool wanted, Round round, Round other_round, uint64_t& own_ps, uint64_t& contended_ps) {
            if (!wanted)
                return;
            const Times times = time_form(other_cpu, round, other_round, accesses, memory, until_ns);
            own_ps = times.own_ps;
            contended_ps = times.contended_ps;
        };
        fill(accesses.locked, round_of<Form::locked>, round_of<Form::locked>, record.own_locked_ps,
             record.contended_locked_ps);
        fill(accesses.update, round_of<Form::update>, round_of<Form::update>, record.own_update_ps,
             record.contended_update_ps);
        fill(accesses.store, round_of<Form::store>, round_of<Form::store>, record.own_store_ps, record.contended_store_ps);
        fill(accesses.load, round_of<Form::load>, round_of<Form::update>, record.own_load_ps, record.contended_load_ps);
    };
    try { // in a thread, so that this one's CPUs stay as they are
        std::thread([&] {
            try {
                time_all();
            } catch (const std::system_error&) { // no thread to be had: not measured
            }
        }).join();
    } catch (const std::system_error&) {
    }
    return record;
}

} // namespace plumb::record
