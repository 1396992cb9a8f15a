#include "record/align/alignment_collector.h"

#include "platform/code/alignment_flag.h"
#include "platform/code/memory_instruction.h"
#include "platform/os/cpu_tick.h"
#include "platform/os/files.h"
#include "platform/os/shadow_stack.h"
#include "platform/os/text.h"
#include "platform/unwind/unwind_table.h"
#include "record/align/code/code_ranges.h"
#include "record/align/trap/find_window.h"
#include "record/align/trap/hot_sites.h"
#include "record/align/rewriting/rewrite.h"
#include "record/align/trap/resume_at_original.h"
#include "record/align/trap/step_slot.h"
#include "record/align/trap/trap_handlers.h"
#include "record/align/trap/watched_thread.h"
#include "record/process/own_cost.h"
#include "record/process/process.h"
#include "record/process/settings.h"
#include "record/signals/program_signals.h"
#include "record/signals/trap_view.h"
#include "record/timer/timer_sampling.h"

#include <signal.h>
#include <string.h>

namespace plumb::shim {

namespace {

constexpr const char* kSource = "alignment-trap";
constexpr uint64_t kTickNs = 20'000'000; // of a thread's CPU time

bool wanted = false;             // asked for, and nothing speaks against it so far
std::atomic<bool> ready{false};  // handlers are installed and the trap works
std::atomic<bool> ticks_run{false}; // in some thread
trace::AlignMode mode = trace::AlignMode::find;
constexpr const char* kEnableTicks = "Linux 5.11 or later and a higher limit of pending signals (ulimit -i), or --align=exact";

void write_missing(const Guard& guard, const char* why, const char* enable) {
    write_evidence(guard, kSource, trace::EvidenceState::missing, why, enable);
}

// A debugger or strace would see every signal of the trap and stop at it.
bool is_traced() {
    char status[4096];
    if (read_whole_file("/proc/self/status", status, sizeof status) <= 0)
        return false;
    const char* line = strstr(status, "\nTracerPid:");
    if (!line)
        return false;
    line += strlen("\nTracerPid:");
    while (*line == '\t' || *line == ' ')
        ++line;
    return parse_number(line, 0) != 0;
}

Text<256> describe(const FlagCode& code) {
    Text<256> why;
    why << "the code of " << code.module.c_str() << " (offset " << code.offset
        << ") reads or changes the processor's flags, which would conflict with the trap";
    return why;
}

// For good: what was found until then stays.
void stop(const char* why) {
    if (!ready.load(std::memory_order_relaxed) || trapping_stopped())
        return;
    stop_trapping();
    const Guard guard;
    if (guard)
        write_evidence(guard, "alignment-trap-end", trace::EvidenceState::limited, why, "");
}

bool prepare(const Guard& guard) {
    const char* why = nullptr;
    if (is_traced())
        write_missing(guard, "a debugger or tracer is attached and would stop at every hit", "run the program without it");
    else if (shadow_stack_is_on())
        write_missing(guard, "shadow stacks are enabled in this process, which rules out this kind of signal handler",
                      "run it with GLIBC_TUNABLES=glibc.cpu.x86_shstk=off");
    else if (!load_decoder(&why))
        write_missing(guard, why, "install the package libzydis4.0");
    else if (!allocate_sites())
        write_missing(guard, "memory for its tables could not be allocated", "");
    else
        return true;
    return false;
}

void write_how_it_works(const Guard& guard, int tick_error) {
    if (mode == trace::AlignMode::exact) {
        write_evidence(guard, kSource, trace::EvidenceState::ok, "every hit is counted", "");
    } else if (tick_error == 0) {
        write_evidence(guard, kSource, trace::EvidenceState::ok,
                       "traps in short windows: sites are found, counts are lower bounds", "--align=exact");
    } else if (sampling_signal() != 0) {
        write_evidence(guard, kSource, trace::EvidenceState::limited,
                       "the kernel's timers cannot begin windows here: traps in short windows that begin when the sampling "
                       "timer interrupts a thread; sites are found, counts are lower bounds",
                       kEnableTicks);
    } else {
        Text<192> why;
        why << "the kernel's timers cannot begin windows here (error " << static_cast<uint64_t>(-tick_error)
            << "): only the first unaligned accesses of each thread are caught";
        write_evidence(guard, kSource, trace::EvidenceState::limited, why.c_str(), kEnableTicks);
    }
}

// The first thread has ticks, this one has none: every timer holds one of the signals that may be pending.
void write_refused_tick(const Guard& guard, int tick_error) {
    if (sampling_signal() != 0)
        return;
    Text<192> why;
    why << "thread " << guard.thread().tid << " (and perhaps others) was refused a timer (error "
        << static_cast<uint64_t>(-tick_error) << "): only its first unaligned accesses are caught";
    write_evidence(guard, "alignment-trap-threads", trace::EvidenceState::limited, why.c_str(),
                   "a higher limit of pending signals (ulimit -i), or --align=exact");
}

// The calling thread is watched from now on; false: no memory, or no room in the trace.
bool begin_watching(const Guard& guard) {
    if (!watch_thread(guard, mode))
        return false;
    // Exact mode needs no windows, but something that finds threads which have lost the flag (has_left_alternate_stack).
    const int error = start_cpu_tick(kTickNs, &watched_thread->tick);
    write_how_it_works(guard, error);
    if (mode == trace::AlignMode::find && error != 0 && ticks_run.load(std::memory_order_relaxed))
        write_refused_tick(guard, error);
    else if (error == 0)
        ticks_run.store(true, std::memory_order_relaxed);
    return true;
}

constexpr TrapView kTrapView = {is_armed, make_context_natural, program_has_alignment_flag, give_alignment_flag_to_program};

// Called in the sampling timer's handler: begins windows of find mode in threads that have no tick of their own.
void alignment_tick(void* context) {
    if (ready.load(std::memory_order_relaxed) && watched_thread && !watched_thread->tick.runs)
        begin_window_at_tick(context);
}

bool take_over(const Guard& guard) {
    renew_code_ranges();
    if (has_go_code()) {
        write_missing(guard, "the Go runtime is in this process, which blocks signals behind the C library's back", "");
        return false;
    }
    if (const FlagCode* code = code_that_handles_flags()) {
        write_missing(guard, describe(*code).c_str(), "");
        return false;
    }
    if (alignment_flag()) {
        write_missing(guard, "the program set the alignment flag itself", "");
        return false;
    }
    set_trap_mode(mode);
    set_trap_view(&kTrapView);
    set_tick_listener(alignment_tick);
    if (const int error = install_trap_handlers(); error < 0) {
        write_missing(guard, "the signal handlers cannot be installed", "");
        return false;
    }
    if (try_trap() == 0) {
        disown_signal(SIGBUS);
        disown_signal(SIGTRAP);
        write_missing(guard, "unaligned accesses do not trap on this machine (its hypervisor or emulator ignores the flag)",
                      "");
        return false;
    }
    start_unwinding();
    if (mode == trace::AlignMode::exact)
        begin_rewriting();
    return true;
}

// The one thread of a forked child; its parent was watched.
bool continue_forked(const Guard& guard) {
    if (!ready.load(std::memory_order_relaxed) || trapping_stopped())
        return ready.load(std::memory_order_relaxed);
    begin_site_recording();
    forget_threads_started_past_hooks();
    forget_windows_of_parent();
    continue_slots_in_child();
    record_rewritten_code(guard);
    return begin_watching(guard);
}

bool start(bool forked) {
    if (forked) {
        rewriting_after_fork();
        bool goes_on;
        {
            const Guard guard;
            goes_on = guard && continue_forked(guard);
        }
        // Most forked children execute another program at once, and some (Chromium's) first put all signals back to
        // their defaults by system calls of their own, after which a hit would kill them. So find mode waits for the
        // child's first tick; exact mode has promised to count every access.
        if (goes_on && mode == trace::AlignMode::exact)
            arm_thread();
        else
            clear_alignment_flag();
        return goes_on;
    }
    const char* text = settings.text(Setting::kAlign);
    if (!text || strcmp(text, "off") == 0)
        return false;
    mode = strcmp(text, "exact") == 0 ? trace::AlignMode::exact : trace::AlignMode::find;
    const Guard guard;
    wanted = guard && prepare(guard);
    return wanted;
}

void thread_start(void*) {
    if (!ready.load(std::memory_order_acquire) || trapping_stopped())
        return;
    bool watched;
    {
        const Guard guard;
        watched = guard && begin_watching(guard);
    }
    if (watched)
        arm_new_thread();
}

void thread_end() {
    disarm_thread();
    if (watched_thread)
        add_rewritten_hits(*watched_thread);
    if (watched_thread)
        stop_cpu_tick(&watched_thread->tick);
    unwatch_thread();
}

// How many were met is known at the end only. A thread that was refused its ticks may have said something before.
void tell_about_unknown_threads(const Guard& guard) {
    const uint32_t threads = threads_started_past_hooks();
    if (threads == 0)
        return;
    Text<256> why;
    why << threads << (threads == 1 ? " thread was" : " threads were")
        << " started without the tool's hooks (by functions looked up in the C library itself, or by system calls), and not "
           "watched";
    write_evidence(guard, "alignment-trap-threads", trace::EvidenceState::limited, why.c_str(), "");
}

void process_end() {
    if (!ready.load(std::memory_order_relaxed))
        return;
    disarm_thread();
    const Guard guard;
    if (guard) {
        tell_about_unknown_threads(guard);
        tell_about_rewriting(guard);
    }
}

void repair_thread(ThreadState& thread) {
    if (WatchedThread* const watched = thread.data<WatchedThread>(ThreadSlot::align))
        watched->paths.forget();
}

} // namespace

constinit const Collector alignment_collector = {"align", false, start, thread_start, thread_end, process_end, repair_thread};

void arm_at_main() {
    if (!wanted)
        return;
    bool watched;
    {
        const Guard guard;
        if (!guard)
            return;
        const OwnCost cost;
        watched = take_over(guard) && begin_watching(guard);
        ready.store(watched, std::memory_order_release);
    }
    if (watched)
        arm_first_thread();
}

void alignment_modules_changed() {
    if (!ready.load(std::memory_order_relaxed))
        return;
    renew_code_ranges();
    forget_lost_sites();
    if (has_go_code())
        stop("the Go runtime was loaded, which blocks signals behind the C library's back: watched until then");
    if (const FlagCode* code = code_that_handles_flags())
        stop(describe(*code).c_str());
}

bool is_armed() { return watched_thread && watched_thread->armed && !trapping_stopped(); }

void alignment_thread_past_hooks() {
    if (ready.load(std::memory_order_relaxed) && !trapping_stopped())
        note_thread_past_hooks();
}

void alignment_storage_is_shared() {
    if (ready.load(std::memory_order_relaxed))
        take_back_rewriting();
}

void stop_alignment_trap() { // without a word: nothing may be written any more that could make a system call
    if (ready.load(std::memory_order_relaxed))
        stop_trapping();
}

} // namespace plumb::shim
