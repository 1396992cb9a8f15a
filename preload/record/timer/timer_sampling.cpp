#include "record/timer/timer_sampling.h"

#include "platform/code/protection_keys.h"
#include "platform/os/interrupted.h"
#include "platform/os/memory.h"
#include "platform/os/signal_action.h"
#include "platform/os/system_call.h"
#include "platform/os/text.h"
#include "platform/unwind/unwind_table.h"
#include "record/paths/call_path.h"
#include "record/paths/call_path_tree.h"
#include "record/process/process.h"
#include "record/process/settings.h"
#include "record/process/trace_writer.h"
#include "record/signals/program_signals.h"
#include "record/timer/sample_table.h"

#include <signal.h>
#include <string.h>
#include <time.h>

namespace plumb::shim {
namespace {

constexpr uint64_t kMostHz = 250; // a sample costs the thread a few microseconds; timers follow the kernel's tick anyway
constexpr const char* kSource = "timer-sampling";

struct ThreadSampling { // of one thread; survives it and is used again, see ThreadSlot
    StackBounds stack;
    CallPathCache paths;
    SampleTable sites;
    int timer;
    bool running;
};

std::atomic<int> signal_in_use{0};
constinit std::atomic<void (*)(void*)> tick_listener{nullptr};
uint64_t period_ns = 0;

ThreadSampling*& sampling_of(ThreadState& thread) { return thread.data<ThreadSampling>(ThreadSlot::sampling); }

// A thread's kernel timer. `sigevent` is the kernel's own structure: the C library's leaves no way to name the
// thread without its helper thread.
int create_timer(uint32_t tid, int signal_number, int* timer) {
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal_number;
    event._sigev_un._tid = static_cast<pid_t>(tid);
    long error = system_call(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, word(&event), word(timer));
    if (error < 0)
        return static_cast<int>(error);
    itimerspec times = {};
    times.it_interval.tv_nsec = static_cast<long>(period_ns);
    times.it_value = times.it_interval;
    error = system_call(SYS_timer_settime, *timer, 0, word(&times), 0);
    if (error < 0)
        system_call(SYS_timer_delete, *timer);
    return static_cast<int>(error);
}

void take_sample(int, siginfo_t* info, void* context) {
    if (info->si_code != SI_TIMER)
        return;
    const Guard guard; // false inside the shim: what it costs is counted by itself
    if (!guard || !sampling_of(guard.thread()))
        return;
    const AllKeysAllowed to_read_code_and_stack;
    const uint64_t begin_ns = now_ns();
    ThreadSampling& sampling = *sampling_of(guard.thread());
    const Interrupted at = interrupted_at(context);
    Frame frame = interrupted_frame(at.pc, at.sp, at.bp, at.link);
    StackReader stack(sampling.stack, at.sp);
    StepFacts facts;
    trace::NodeId parent = kCutPath;
    const Step step = step_to_caller(&frame, &stack, &facts);
    if (step == Step::caller) {
        sampling.paths.find(guard, frame);
        parent = sampling.paths.node(guard);
    } else if (step == Step::outermost) {
        parent = 0;
    }
    // Readers look one byte before an address of the tree, so the leaf is the interrupted instruction plus one.
    const trace::NodeId leaf = call_path_child(guard, parent, at.pc + 1);
    const uint64_t periods = 1 + static_cast<uint64_t>(info->si_overrun > 0 ? info->si_overrun : 0);
    sampling.sites.add(guard, leaf, periods, periods * period_ns, is_behind_system_call(at.pc), begin_ns);
    if (void (*const listener)(void*) = tick_listener.load(std::memory_order_acquire))
        listener(context);
    trace_file().add_own_cost(now_ns() - begin_ns);
}

void start_thread(const Guard& guard) {
    ThreadState& thread = guard.thread();
    ThreadSampling*& sampling = sampling_of(thread);
    if (!sampling)
        sampling = static_cast<ThreadSampling*>(allocate_pages(sizeof(ThreadSampling), true));
    if (!sampling)
        return;
    sampling->stack = find_stack_bounds();
    memset(static_cast<void*>(&sampling->paths), 0, sizeof sampling->paths);
    sampling->paths.find(guard, PLUMB_CALLER_FRAME()); // its first call is not signal-safe
    sampling->sites.clear(); // the former thread's records are finished
    sampling->running = create_timer(thread.tid, signal_in_use.load(std::memory_order_relaxed), &sampling->timer) == 0;
    if (!sampling->running)
        write_evidence(guard, kSource, trace::EvidenceState::limited, "no timer could be created for a thread",
                       "raise the limit of pending signals (ulimit -i)");
    adopt_thread_mask(); // inherited masks
}

int find_unused_signal() {
    // From the middle of the real-time signals downwards: programs take them from either end.
    for (int number = (SIGRTMIN + SIGRTMAX) / 2; number > SIGRTMIN; --number)
        if (has_default_action(number))
            return number;
    return 0;
}

bool start(bool forked) {
    const uint64_t hz = settings.number(Setting::kTimerRate, 0);
    const Guard guard;
    if (hz == 0 || !guard)
        return false;
    period_ns = 1'000'000'000u / (hz < kMostHz ? hz : kMostHz);
    if (!forked || signal_in_use.load(std::memory_order_relaxed) == 0) {
        start_unwinding();
        const int number = find_unused_signal();
        if (number == 0 || install_handler(number, take_sample) < 0) {
            write_evidence(guard, kSource, trace::EvidenceState::missing, "no real-time signal is free",
                           "allow perf events: sysctl kernel.perf_event_paranoid=2");
            return false;
        }
        signal_in_use.store(number, std::memory_order_relaxed);
        keep_signal_open(number); // programs that block all signals in their workers would never be sampled
    }
    Text<256> why;
    why << "perf events are forbidden: CPU-time timers interrupt each thread " << (1'000'000'000u / period_ns)
        << " times a second of its CPU time; a sleep or poll that a signal hits may return early (EINTR)";
    write_evidence(guard, kSource, trace::EvidenceState::limited, why.c_str(),
                   "sysctl kernel.perf_event_paranoid=2, or allow perf_event_open in the container");
    start_thread(guard);
    return true;
}

void thread_start(void*) {
    if (sampling_signal() == 0)
        return;
    const Guard guard;
    if (guard)
        start_thread(guard);
}

void thread_end() {
    const Guard guard;
    if (!guard || !sampling_of(guard.thread()) || !sampling_of(guard.thread())->running)
        return;
    sampling_of(guard.thread())->running = false;
    system_call(SYS_timer_delete, sampling_of(guard.thread())->timer);
}

void stop_all_timers() {
    for (uint32_t i = 0; i < thread_state_count(); ++i) {
        ThreadState* thread = thread_state_at(i);
        ThreadSampling* sampling = thread ? sampling_of(*thread) : nullptr;
        if (sampling && sampling->running) {
            sampling->running = false;
            system_call(SYS_timer_delete, sampling->timer);
        }
    }
}

void repair_thread(ThreadState& thread) {
    if (ThreadSampling* const sampling = sampling_of(thread))
        sampling->paths.forget();
}

} // namespace

constinit const Collector timer_sampling = {nullptr,    false,           start,        thread_start,
                                            thread_end, stop_all_timers, repair_thread};

void set_tick_listener(void (*listener)(void*)) { tick_listener.store(listener, std::memory_order_release); }

int sampling_signal() { return signal_in_use.load(std::memory_order_relaxed); }

void yield_sampling_signal() {
    const int number = signal_in_use.exchange(0, std::memory_order_relaxed);
    if (number == 0)
        return;
    stop_all_timers();
    remove_handler(number);
    let_signal_go(number);
    const Guard guard;
    if (guard)
        write_evidence(guard, "timer-signal", trace::EvidenceState::limited,
                       "the program took over the signal of the sampling timer; sampling ended then",
                       "sysctl kernel.perf_event_paranoid=2, or allow perf_event_open in the container");
}

} // namespace plumb::shim
