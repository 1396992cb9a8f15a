#include "record/calibrate/line_timing.h"

#include "record/run/node_trace_writer.h"
#include "support/median.h"

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
constexpr uint64_t kIterationsARound = 16, kRoundsATurn = 8, kLeast_ns = 60'000;
constexpr uint64_t kLongest_ns = 400'000'000; // wall time, on a busy machine
constexpr uint64_t kSpin_ns = 20'000;         // an opponent that runs has answered by then
constexpr timespec kPause{0, 200'000};        // else this thread waits without using its CPU
constexpr size_t kApart = 512;                // bytes: no prefetcher takes the lines for neighbours

using Word = std::atomic<uint64_t>;

// In assembler where that is the common machine, so that a build without optimisation measures the same.
template <LineForm form> inline void touch(Word* word) {
#if defined(__x86_64__)
    if constexpr (form == LineForm::load) {
        uint64_t value;
        asm volatile("movq (%[at]), %[value]" : [value] "=r"(value) : [at] "r"(word) : "memory");
    } else if constexpr (form == LineForm::store) {
        asm volatile("movq %[at], (%[at])" : : [at] "r"(word) : "memory");
    } else if constexpr (form == LineForm::update) {
        asm volatile("addq $1, (%[at])" : : [at] "r"(word) : "memory", "cc");
    } else {
        asm volatile("lock addq $1, (%[at])" : : [at] "r"(word) : "memory", "cc");
    }
#else
    if constexpr (form == LineForm::load)
        static_cast<void>(word->load(std::memory_order_relaxed));
    else if constexpr (form == LineForm::store)
        word->store(1, std::memory_order_relaxed);
    else if constexpr (form == LineForm::update)
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

// `task.words` 0: the calculation alone.
using Round = void (*)(Word*, const LineTask&);

template <LineForm form> void round_of(Word* word, const LineTask& task) {
    uint64_t value = 1;
    for (uint64_t i = 0; i < kIterationsARound; ++i) {
        for (unsigned at = 0; at < task.words; ++at)
            touch<form>(word + at);
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

// What the timings may take: CPU time of both threads, and wall time where they do not get to run.
class Room {
  public:
    explicit Room(uint64_t most_ns) : cpu_until_ns_(own_cpu_ns() + most_ns), until_ns_(monotonic_ns() + kLongest_ns) {}
    bool is_used_up() const { return own_cpu_ns() > cpu_until_ns_ || monotonic_ns() > until_ns_; }

  private:
    const uint64_t cpu_until_ns_, until_ns_;
};

// A thread on the other CPU that uses a word without rest.
class Opponent {
  public:
    Opponent(int cpu, Round round, const LineTask& task, Word* word)
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

    // Returns when it runs and uses this word. False: it does not come to run while there is room.
    bool turns_to(Word* word, const Room& room) {
        word_.store(word, std::memory_order_relaxed);
        const uint64_t spun_ns = monotonic_ns() + kSpin_ns;
        for (const uint64_t begin = rounds(); rounds() < begin + 2;) {
            if (failed_.load() || room.is_used_up())
                return false;
            if (monotonic_ns() > spun_ns)
                nanosleep(&kPause, nullptr);
        }
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
uint64_t run(Round round, const LineTask& task, Word* word, const Opponent* opponent) {
    uint64_t rounds = 0, took_ns = 0;
    const uint64_t opposed = opponent ? opponent->rounds() : 0, begin_ns = thread_cpu_ns();
    do {
        for (uint64_t i = 0; i < kRoundsATurn; ++i)
            round(word, task);
        rounds += kRoundsATurn;
        took_ns = thread_cpu_ns() - begin_ns;
    } while (took_ns < kLeast_ns);
    const bool was_there = !opponent || opponent->rounds() - opposed >= rounds / 8;
    return was_there ? std::max<uint64_t>(took_ns * 1000 / (rounds * kIterationsARound), 1) : 0;
}

// In turn, because the clock rate may change. On a busy machine the two threads run at the same time only now and then:
// it is waited for, though not for long.
LineTimes time_task(int other_cpu, Round round, Round other_round, const LineTask& task, char* memory, const Room& room) {
    std::vector<uint64_t> own, contended, without;
    Word* word = reinterpret_cast<Word*>(memory);
    Word* far = reinterpret_cast<Word*>(memory + kApart);
    Word* near = word + kMostLineWords;
    while (task.work > 0 && without.size() < kFewest)
        without.push_back(run(round, {task.form, 0, task.work}, word, nullptr));
    Opponent opponent(other_cpu, other_round, task, far);
    while (own.size() < kEnough || contended.size() < kEnough) {
        const bool contends = own.size() > contended.size();
        if (!opponent.turns_to(contends ? near : far, room))
            break;
        if (const uint64_t ps = run(round, task, word, &opponent))
            (contends ? contended : own).push_back(ps);
    }
    if (own.size() < kFewest || contended.size() < kFewest)
        return {};
    const uint64_t own_ps = upper_median(own), contended_ps = upper_median(contended);
    const uint64_t work_ps = task.work == 0 ? 0 : upper_median(without);
    const auto each = [&](uint64_t ps) { return std::max<uint64_t>((ps - std::min(ps, work_ps)) / task.words, 1); };
    return {each(own_ps), each(contended_ps),
            static_cast<double>(contended_ps - std::min(contended_ps, work_ps)) / static_cast<double>(contended_ps)};
}

Round round_of(LineForm form) {
    switch (form) {
    case LineForm::load: return round_of<LineForm::load>;
    case LineForm::store: return round_of<LineForm::store>;
    case LineForm::update: return round_of<LineForm::update>;
    case LineForm::locked: break;
    }
    return round_of<LineForm::locked>;
}

} // namespace

LineTimes time_line_task(int cpu, int other_cpu, LineTask task, uint64_t most_ns) {
    task.words = std::clamp(task.words, 1u, kMostLineWords);
    alignas(4096) static char memory[4096];
    LineTimes times;
    const Room room(most_ns);
    try { // in a thread, so that this one's CPUs stay as they are
        std::thread([&] {
            try {
                if (move_to(cpu)) // a load waits where the other thread writes
                    times = time_task(other_cpu, round_of(task.form),
                                      round_of(task.form == LineForm::load ? LineForm::update : task.form), task, memory, room);
            } catch (const std::system_error&) { // no thread to be had: not measured
            }
        }).join();
    } catch (const std::system_error&) {
    }
    return times;
}

} // namespace plumb::record
