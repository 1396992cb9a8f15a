#include "record/align/trap/hot_sites.h"

#include "platform/code/alignment_flag.h"
#include "platform/code/near_code.h"
#include "platform/code/single_step.h"
#include "platform/os/text.h"
#include "record/align/rewriting/rewrite.h"
#include "record/align/sites/thread_counts.h"
#include "record/process/file_quota.h"

namespace plumb::shim {

namespace {

// A rewriting costs as much as a few dozen traps; and the addresses of some hits are to be kept, which only traps do.
constexpr uint32_t kTrapsBeforeRewriting = 256;

std::atomic<bool> possible{false};
std::atomic<uint32_t> results[static_cast<uint32_t>(RewriteResult::count)]; // of sites whose hits count
std::atomic<uint32_t> uncounted_rewritten{0};

bool is_time(uint32_t traps) { return traps >= kTrapsBeforeRewriting && (traps & (traps - 1)) == 0; }

void record_code(const Guard& guard, uint64_t start, uint64_t end, uint64_t address) {
    if (guard && start < end && spend(guard, FileQuota::alignment, sizeof(trace::AlignCode)))
        append(guard, trace::RecordType::AlignCode, trace::AlignCode{{}, start, end, address});
}

void record_code(const Guard& guard, const RewrittenSite& rewritten) {
    record_code(guard, rewritten.code_start, rewritten.code_end, rewritten.address);
    record_code(guard, rewritten.stub_start, rewritten.stub_end, rewritten.address);
}

void rewrite_now(Site& site, bool counts) {
    RewrittenSite rewritten;
    // Other threads that trapped at the original meanwhile find other bytes there, which are ours.
    site.rewrite.store(1, std::memory_order_release);
    const RewriteResult result = rewrite_site(site.address, site.code, site.instruction, site.id, &rewritten, counts);
    if (result != RewriteResult::done)
        site.rewrite.store(0, std::memory_order_release);
    if (result == RewriteResult::busy)
        return;
    site.rewrite_refused.store(result != RewriteResult::done, std::memory_order_relaxed);
    if (counts)
        results[static_cast<uint32_t>(result)].fetch_add(1, std::memory_order_relaxed);
    else if (result == RewriteResult::done)
        uncounted_rewritten.fetch_add(1, std::memory_order_relaxed);
    if (result == RewriteResult::done) {
        const Guard guard;
        record_code(guard, rewritten);
    }
}

// Ends the single step without the flag: the rest of the trampoline sets it.
void send_stepping_thread(WatchedThread& thread, ucontext_t* context, uint64_t to) {
    thread.stepping = false;
    *reinterpret_cast<uint64_t*>(&context->uc_sigmask) = thread.step_mask;
    greg_t* registers = context->uc_mcontext.gregs;
    registers[REG_EFL] &= ~static_cast<greg_t>(kSingleStepFlag | kAlignmentFlag);
    registers[REG_RIP] = static_cast<greg_t>(to);
}

} // namespace

bool begin_rewriting() {
    possible.store(prepare_rewriting(&this_thread_counts), std::memory_order_relaxed);
    return possible.load(std::memory_order_relaxed);
}

void record_rewritten_code(const Guard& guard) {
    for (uint32_t id = 1; id < site_count(); ++id) {
        RewrittenSite rewritten;
        if (const Site& site = *site_of_id(id);
            site.rewrite.load(std::memory_order_relaxed) != 0 && find_rewritten(site.address, &rewritten))
            record_code(guard, rewritten);
    }
}

uint64_t way_over_hot_site(Site& site, bool counts) {
    if (!possible.load(std::memory_order_relaxed) || !site.decoded)
        return 0;
    if (site.rewrite.load(std::memory_order_acquire) == 0) {
        const uint32_t traps = site.traps.load(std::memory_order_relaxed) + 1;
        if (site.rewrite_refused.load(std::memory_order_relaxed) || !is_time(traps))
            return 0;
        rewrite_now(site, counts);
    }
    return step_over_rewritten(site.address);
}

bool on_trap_of_rewriting(WatchedThread* thread, const siginfo_t& info, ucontext_t* context) {
    if (!possible.load(std::memory_order_relaxed))
        return false;
    const bool stepping = thread && thread->stepping;
    if (is_debug_exception(info)) {
        if (!stepping || !owner_of_near_code(static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP])))
            return false;
    } else if (!pass_patch_breakpoint(context)) {
        return false;
    }
    if (!stepping)
        return true;
    const uint64_t to = step_over_rewritten(thread->step_address);
    if (to) {
        send_stepping_thread(*thread, context, to);
    } else { // taken back meanwhile: the program's own instruction stands there again, and is stepped over
        context->uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(thread->step_address);
    }
    return true;
}

void add_rewritten_hits(WatchedThread& thread) {
    if (!possible.load(std::memory_order_relaxed) || !thread.totals)
        return;
    uint64_t hits = 0;
    for (uint32_t id = 1; id < site_count(); ++id)
        if (const trace::AlignCount* count = thread.counts[id])
            hits += count->hits;
    const uint64_t trapped = thread.totals->hits - thread.totals->rewritten;
    __atomic_store_n(&thread.totals->rewritten, hits > trapped ? hits - trapped : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&thread.totals->hits, hits, __ATOMIC_RELAXED);
}

void tell_about_rewriting(const Guard& guard) {
    if (!possible.load(std::memory_order_relaxed))
        return;
    for (uint32_t i = 0; i < thread_state_count(); ++i)
        if (ThreadState* state = thread_state_at(i))
            if (auto* thread = state->data<WatchedThread>(ThreadSlot::align);
                thread && state->live.load(std::memory_order_relaxed))
                add_rewritten_hits(*thread);
    Text<512> text;
    text << results[static_cast<uint32_t>(RewriteResult::done)].load(std::memory_order_relaxed)
         << " hot sites were rewritten";
    if (const uint32_t number = uncounted_rewritten.load(std::memory_order_relaxed))
        text << " (and " << number << " in excluded libraries, to avoid their cost)";
    bool all = true;
    for (uint32_t i = static_cast<uint32_t>(RewriteResult::busy) + 1; i < static_cast<uint32_t>(RewriteResult::count);
         ++i)
        if (const uint32_t number = results[i].load(std::memory_order_relaxed)) {
            text << (all ? "; left to the trap: " : ", ") << number << " " << describe(static_cast<RewriteResult>(i));
            all = false;
        }
    write_evidence(guard, "alignment-rewriting", all ? trace::EvidenceState::ok : trace::EvidenceState::limited,
                   text.c_str(), "");
}

} // namespace plumb::shim
