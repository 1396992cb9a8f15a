#include "record/align/trap/trap_handlers.h"

#include "platform/code/alignment_flag.h"
#include "platform/code/near_code.h"
#include "platform/code/protection_keys.h"
#include "platform/code/single_step.h"
#include "platform/code/trap_entry.h"
#include "platform/os/cpu_tick.h"
#include "record/align/code/code_ranges.h"
#include "record/align/code/fatal_ranges.h"
#include "record/align/trap/find_window.h"
#include "record/align/trap/hot_sites.h"
#include "record/align/trap/resume_at_original.h"
#include "record/align/rewriting/rewrite.h"
#include "record/align/trap/step_slot.h"
#include "record/align/trap/watched_thread.h"
#include "record/signals/program_signals.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

PLUMB_TRAP_ENTRY(plumb_bus_entry, plumb_on_bus);
PLUMB_TRAP_ENTRY(plumb_trap_entry, plumb_on_trap);

// An unaligned load and its return address, for try_trap.
__asm__(".text\n.globl plumb_unaligned_load\n.hidden plumb_unaligned_load\n.type plumb_unaligned_load, @function\n"
        "plumb_unaligned_load:\nmovl 1(%rdi), %eax\nret\n.size plumb_unaligned_load, . - plumb_unaligned_load\n");

extern "C" {
void plumb_bus_entry(int, siginfo_t*, void*) PLUMB_HIDDEN;
void plumb_trap_entry(int, siginfo_t*, void*) PLUMB_HIDDEN;
void plumb_unaligned_load(const void*) PLUMB_HIDDEN;
}

namespace plumb::shim {
namespace {

constexpr uint32_t kStepsBeforeSlot = 2; // an instruction that runs once is not worth a slot (but a string is)
constexpr greg_t kTrap = static_cast<greg_t>(kAlignmentFlag), kStep = static_cast<greg_t>(kSingleStepFlag);
constexpr uint32_t kTries = 6;

// Everything but what the instruction that is stepped over may raise itself.
constexpr uint64_t signal_bit(int number) { return uint64_t{1} << (number - 1); }
constexpr uint64_t kMaskOfStep = ~(signal_bit(SIGBUS) | signal_bit(SIGTRAP) | signal_bit(SIGSEGV) |
                                   signal_bit(SIGFPE) | signal_bit(SIGILL));

trace::AlignMode mode = trace::AlignMode::find;
std::atomic<bool> stopped{false};
std::atomic<bool> flag_went_to_program{false}; // some thread's: unknown ones may have inherited that one
std::atomic<uint32_t> unknown_threads{0};
__thread bool counted_as_unknown __attribute__((tls_model("initial-exec"))) = false;
__thread uint32_t tried __attribute__((tls_model("initial-exec"))) = 0;

bool is_exact() { return mode == trace::AlignMode::exact; }

uint64_t& mask_of(ucontext_t* context) { return *reinterpret_cast<uint64_t*>(&context->uc_sigmask); }

// Exact mode has no end of a window, and a killed program no end at all.
constexpr uint64_t kUntoldCostNs = 1'000'000;

void charge_trap(WatchedThread& thread) {
    add_to_count(thread.totals->trap_ns, trap_cost());
    if (!is_exact())
        charge_windows();
    if (thread.totals->trap_ns - thread.told_trap_ns >= kUntoldCostNs)
        tell_own_cost(thread);
}

void step_over(WatchedThread& thread, Site* site, ucontext_t* context) {
    greg_t* registers = context->uc_mcontext.gregs;
    registers[REG_EFL] &= ~kTrap;
    charge_trap(thread);
    const bool string = site && site->instruction.string;
    if (site && (site->traps.fetch_add(1, std::memory_order_relaxed) >= kStepsBeforeSlot || string)) {
        if (const uint64_t slot = slot_of(*site)) {
            record_slot(*site);
            registers[REG_RIP] = static_cast<greg_t>(slot);
            add_to_count(thread.totals->slots, 1);
            return;
        }
    }
    thread.stepping = true;
    thread.step_address = static_cast<uint64_t>(registers[REG_RIP]);
    thread.step_repeats = string && site->instruction.repeated;
    thread.step_stores_flags = site && (site->code[0] == 0x9c || (site->code[0] == 0x66 && site->code[1] == 0x9c));
    thread.step_mask = mask_of(context);
    mask_of(context) = kMaskOfStep;
    registers[REG_EFL] |= kStep;
    add_to_count(thread.totals->stepped, 1);
    charge_trap(thread);
}

void finish_step(WatchedThread& thread, ucontext_t* context) {
    greg_t* registers = context->uc_mcontext.gregs;
    thread.stepping = false;
    mask_of(context) = thread.step_mask;
    registers[REG_EFL] &= ~kStep;
    const bool executed = static_cast<uint64_t>(registers[REG_RIP]) != thread.step_address;
    if (thread.step_stores_flags && executed) { // the image that pushf has made
        auto* image = reinterpret_cast<uint8_t*>(registers[REG_RSP]);
        image[1] &= static_cast<uint8_t>(~1u);
    }
    if (thread.armed)
        registers[REG_EFL] |= kTrap;
}

// A single step ends after each element of a string: the next ones follow until it is done.
void on_step(WatchedThread& thread, ucontext_t* context) {
    if (!thread.step_repeats || static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]) != thread.step_address)
        finish_step(thread, context);
}

// A hit in the middle of the tool's own doing, or in a thread or process that was started past the hooks: it has the flag
// from its maker, loses it here and is not watched. False: the flag is the program's, and so is the signal.
bool takes_hit_elsewhere(ucontext_t* context) {
    const WatchedThread* const thread = watched_thread;
    const bool known = thread && thread->ever_armed;
    if (!thread && !counted_as_unknown) {
        counted_as_unknown = true;
        note_thread_past_hooks();
    }
    const bool own = known ? !thread->flag_is_programs : !flag_went_to_program.load(std::memory_order_relaxed);
    if (own || is_in_slot(static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]))) {
        context->uc_mcontext.gregs[REG_EFL] &= ~kTrap;
        return true;
    }
    return false;
}

// False: as above.
bool takes_hit(ucontext_t* context) {
    greg_t* registers = context->uc_mcontext.gregs;
    const uint64_t address = static_cast<uint64_t>(registers[REG_RIP]);
    if (address == reinterpret_cast<uint64_t>(plumb_unaligned_load)) {
        ++tried;
        registers[REG_EFL] &= ~kTrap;
        return true;
    }
    WatchedThread* const thread = watched_thread;
    if (!thread || !thread->totals || !thread->armed || stopped.load(std::memory_order_relaxed) ||
        is_in_slot(address))
        return takes_hit_elsewhere(context);
    const CodeFacts facts = facts_of_code(address);
    Site* const site = site_at(address);
    // Some processors (AMD's) trap at packed accesses, too, others (Intel's) do not; and these may lie anywhere that their
    // elements may. So they never count: what they cost where they cross lines, address sampling tells everywhere.
    const bool packed = site && (site->flags & trace::kAlignPacked);
    if (packed) {
        add_to_count(thread->totals->excluded_hits, 1);
        ++thread->window_counted;
    } else if (facts.excluded) {
        add_to_count(thread->totals->excluded_hits, 1);
        ++thread->window_excluded;
    } else {
        if (site)
            count_hit(*thread, *site, *context, is_exact());
        else
            add_to_count(thread->totals->lost_hits, 1);
        ++thread->window_counted;
        if (facts.fatal) {
            prepare_fatal_end(address);
            return true;
        }
    }
    if (!is_exact() && window_is_over(*thread)) {
        end_window(*thread);
        registers[REG_EFL] &= ~kTrap;
        charge_trap(*thread);
        return true;
    }
    if (const uint64_t way = site && is_exact() && !facts.left_alone ? way_over_hot_site(*site, !facts.excluded && !packed) : 0) {
        registers[REG_RIP] = static_cast<greg_t>(way);
        registers[REG_EFL] &= ~kTrap;
        add_to_count(thread->totals->slots, 1);
        charge_trap(*thread);
        return true;
    }
    step_over(*thread, site, context);
    return true;
}

// Handlers there run without the flag: the trap's frames are too large for many of these stacks.
bool is_on_alternate_stack(const ucontext_t& context) {
    const auto pointer = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]);
    return !(context.uc_stack.ss_flags & SS_DISABLE) &&
           pointer - reinterpret_cast<uint64_t>(context.uc_stack.ss_sp) < context.uc_stack.ss_size;
}

// A thread that is to be armed always was found without the flag.
void tell_of_gap() {
    const Guard guard;
    if (guard)
        write_evidence(guard, "alignment-trap-gap", trace::EvidenceState::limited,
                       "a thread left a signal handler on an alternate stack by an exception, and was not watched for up to 20 "
                       "ms: counts are lower bounds",
                       "");
}

void on_tick(ucontext_t* context) {
    WatchedThread* const thread = watched_thread;
    const uint64_t address = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]);
    greg_t& flags = context->uc_mcontext.gregs[REG_EFL];
    if (!thread || !thread->totals || thread->stepping || alignment_trap_kept_off != 0 || flags & kTrap ||
        stopped.load(std::memory_order_relaxed) || is_in_slot(address) || owner_of_near_code(address) != 0 ||
        is_on_alternate_stack(*context))
        return;
    if (is_exact()) { // armed always, but for what jumps out of handlers leave behind
        if (!thread->armed || !has_left_alternate_stack(static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RSP])))
            return;
        tell_of_gap();
    }
    if (!thread->armed) {
        if (lets_tick_pass(*thread))
            return;
        begin_window(*thread);
    }
    flags |= kTrap;
}

bool takes_bus_error(const siginfo_t& info, ucontext_t* context) {
    if (info.si_code != BUS_ADRALN || !(context->uc_mcontext.gregs[REG_EFL] & kTrap))
        return false;
    const AllKeysAllowed to_read_the_instruction;
    leave_rewritten_code(context);
    return takes_hit(context);
}

bool takes_trap(const siginfo_t& info, ucontext_t* context) {
    const AllKeysAllowed to_read_code_and_stack;
    if (is_cpu_tick(&info))
        on_tick(context);
    else if (on_trap_of_rewriting(watched_thread, info, context))
        return true;
    else if (is_debug_exception(info) && watched_thread && watched_thread->stepping)
        on_step(*watched_thread, context);
    else
        return false;
    return true;
}

} // namespace

// What goes on in the program's handler does so with the keys that the kernel gave.
extern "C" __attribute__((used)) void plumb_on_bus(int number, siginfo_t* info, void* context) {
    if (!takes_bus_error(*info, static_cast<ucontext_t*>(context)))
        deliver_to_program(number, info, context);
}

extern "C" __attribute__((used)) void plumb_on_trap(int number, siginfo_t* info, void* context) {
    if (!takes_trap(*info, static_cast<ucontext_t*>(context)))
        deliver_to_program(number, info, context);
}

int install_trap_handlers() {
    const int error = own_signal(SIGBUS, plumb_bus_entry);
    return error < 0 ? error : own_signal(SIGTRAP, plumb_trap_entry);
}

void begin_window_at_tick(void* context) { on_tick(static_cast<ucontext_t*>(context)); }

bool program_has_alignment_flag() { return watched_thread && watched_thread->flag_is_programs; }

void give_alignment_flag_to_program(bool set) {
    if (watched_thread)
        watched_thread->flag_is_programs = set;
    if (set)
        flag_went_to_program.store(true, std::memory_order_relaxed);
    if (!set || stopped.exchange(true, std::memory_order_relaxed))
        return;
    stop_rewriting();
    const Guard guard;
    if (guard)
        write_evidence(guard, "alignment-trap-end", trace::EvidenceState::limited,
                       "the program set the alignment flag itself: watched until then", "");
}

void set_trap_mode(trace::AlignMode wanted) { mode = wanted; }

void arm_thread() {
    if (!watched_thread || !watched_thread->totals || stopped.load(std::memory_order_relaxed))
        return;
    begin_window(*watched_thread);
    set_alignment_flag();
}

namespace {
void arm_beginner(bool (*may_begin)()) {
    const bool has_ticks = watched_thread && watched_thread->tick.runs;
    if (is_exact() || !has_ticks || may_begin())
        arm_thread();
    else
        clear_alignment_flag();
}
} // namespace

void arm_first_thread() { arm_beginner(may_begin_at_process_start); }
void arm_new_thread() { arm_beginner(may_begin_at_thread_start); }

void note_thread_past_hooks() { unknown_threads.fetch_add(1, std::memory_order_relaxed); }
uint32_t threads_started_past_hooks() { return unknown_threads.load(std::memory_order_relaxed); }
void forget_threads_started_past_hooks() { unknown_threads.store(0, std::memory_order_relaxed); }

void disarm_thread() {
    clear_alignment_flag();
    alignment_trap_armed = false;
    if (watched_thread && watched_thread->totals)
        end_window(*watched_thread);
}

void stop_trapping() {
    stopped.store(true, std::memory_order_relaxed);
    stop_rewriting();
    clear_alignment_flag();
    alignment_trap_armed = false;
}
bool trapping_stopped() { return stopped.load(std::memory_order_relaxed); }

// The fastest of several: the mean would count what else ran on this CPU meanwhile, and every hit is charged with it.
uint64_t try_trap() {
    alignas(8) static const char data[16] = {};
    tried = 0;
    uint64_t fastest_ns = UINT64_MAX;
    for (uint32_t i = 0; i < kTries; ++i) {
        const uint64_t begin_ns = now_ns();
        set_alignment_flag();
        plumb_unaligned_load(data);
        clear_alignment_flag();
        const uint64_t took_ns = now_ns() - begin_ns;
        fastest_ns = took_ns < fastest_ns ? took_ns : fastest_ns;
    }
    set_trap_cost(fastest_ns);
    return tried == kTries ? fastest_ns : 0;
}

void make_context_natural(void* kernel_context) {
    const AllKeysAllowed to_read_code_and_stack;
    auto* context = static_cast<ucontext_t*>(kernel_context);
    WatchedThread* const thread = watched_thread;
    if (leave_rewritten_code(context))
        return;
    const uint64_t slot_address = instruction_of_slot(static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]));
    if (slot_address != 0)
        leave_slot(context);
    else if (thread && thread->stepping && context->uc_mcontext.gregs[REG_EFL] & kStep)
        finish_step(*thread, context);
    else
        return;
    // A thread that has its hit counted, and then a signal before the instruction: it will come by again.
    const uint64_t address = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]);
    const bool comes_again = thread && (slot_address ? slot_address == address : thread->step_address == address);
    if (comes_again && thread->totals && is_exact() && !facts_of_code(address).excluded)
        if (Site* const site = site_at(address))
            take_back_hit(*thread, *site, *context);
}

} // namespace plumb::shim
