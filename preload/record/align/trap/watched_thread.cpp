#include "record/align/trap/watched_thread.h"

#include "platform/os/interrupted.h"
#include "platform/os/memory.h"
#include "record/align/trap/step_slot.h"
#include "record/heap/heap_blocks.h"
#include "record/paths/call_path_tree.h"
#include "record/process/file_quota.h"
#include "record/process/process.h"

#include <string.h>

namespace plumb::shim {
namespace {

constexpr uint64_t kFirstAddresses = 4;          // hits whose addresses are all kept
constexpr uint64_t kLastAddress = 1u << 14;      // then at powers of two up to this hit: 16 a site and thread

std::atomic<uint32_t> recording_number{1};

uint64_t segment_base(Segment segment) {
    uint64_t base = 0;
    if (segment == Segment::fs) // the first word of the thread's block is its own address
        __asm__("movq %%fs:0, %0" : "=r"(base));
    return base;
}

struct Access {
    uint64_t address;
    uint64_t base_value;
    uint16_t width;
    bool known;
};

// Of instructions with two operands the one that is unaligned is reported, the site's usual one if both are.
Access access_of(const Site& site, const Registers& registers) {
    const MemoryInstruction& instruction = site.instruction;
    Access found = {};
    for (uint32_t i = 0; i < instruction.operand_count; ++i) {
        const uint32_t nth = (site.measured + i) % instruction.operand_count;
        const MemoryOperand& operand = instruction.operands[nth];
        if (operand.segment == Segment::gs || operand.width < 2)
            continue;
        const uint64_t address = operand_address(operand, registers, segment_base(operand.segment));
        const uint64_t boundary = operand.width >= 16 ? 16 : operand.width >= 8 ? 8 : operand.width >= 4 ? 4 : 2;
        if (found.known && address % boundary == 0)
            continue;
        const bool unaligned = address % boundary != 0;
        found = {address, operand.base == kNoRegister ? 0 : registers[operand.base], operand.width, true};
        if (unaligned)
            break;
    }
    return found;
}

// The calling thread was interrupted at `context`: where its function was called, and its canonical frame address.
struct Frames {
    trace::NodeId caller;
    uint64_t frame_address;
};
Frames frames_at(const Guard& guard, WatchedThread& thread, const ucontext_t& context, bool wants_path) {
    const Interrupted at = interrupted_at(&context);
    Frame frame = interrupted_frame(at.pc, at.sp, at.bp, at.link);
    StackReader stack(thread.stack, at.sp);
    StepFacts facts;
    if (step_to_caller(&frame, &stack, &facts) != Step::caller)
        return {};
    Frames found = {0, frame.sp};
    if (wants_path) {
        thread.paths.find(guard, frame);
        found.caller = thread.paths.node(guard);
    }
    return found;
}

void write_site(const Guard& guard, const Site& site, trace::NodeId path, uint64_t time_ns) {
    trace::AlignSite record = {};
    record.id = site.id;
    record.flags = site.flags;
    record.address = site.address;
    record.time_ns = time_ns;
    record.width = site.width;
    record.instruction_bytes = site.decoded ? site.instruction.length : 0;
    record.path = path;
    memcpy(record.code, site.code, sizeof record.code);
    append(guard, trace::RecordType::AlignSite, record);
}

// The first hit of this site in this thread.
trace::AlignCount* begin_count(const Guard& guard, Site& site, trace::NodeId path, bool exact, uint64_t time_ns) {
    if (!spend(guard, FileQuota::alignment, sizeof(trace::AlignSite) + sizeof(trace::AlignCount)))
        return nullptr;
    const uint32_t number = recording_number.load(std::memory_order_relaxed);
    if (site.recorded.exchange(number, std::memory_order_relaxed) != number)
        write_site(guard, site, path, time_ns);
    trace::AlignCount count = {};
    count.site = site.id;
    count.exact = exact ? 1 : 0;
    count.lowest_address = UINT64_MAX;
    return append(guard, trace::RecordType::AlignCount, count);
}

void write_address(const Guard& guard, const Site& site, const Access& access, uint64_t stack_pointer,
                   uint64_t frame_address, uint64_t time_ns) {
    if (!spend(guard, FileQuota::alignment, sizeof(trace::AlignAddress)))
        return;
    trace::AlignAddress record = {};
    record.site = site.id;
    record.address = access.address;
    record.time_ns = time_ns;
    record.base_value = access.base_value;
    record.stack_pointer = stack_pointer;
    record.frame_address = frame_address;
    BlockInfo block;
    if (block_of(access.address, &block)) {
        record.block_kind = static_cast<uint32_t>(block.kind);
        record.block_start = block.start;
        record.block_bytes = block.bytes;
        record.block_path = block.path;
    }
    append(guard, trace::RecordType::AlignAddress, record);
}

bool is_kept(uint64_t hit) { return hit <= kFirstAddresses || (hit <= kLastAddress && (hit & (hit - 1)) == 0); }

} // namespace

__thread WatchedThread* watched_thread = nullptr;
__thread trace::AlignCount** this_thread_counts = nullptr;

bool watch_thread(const Guard& guard, trace::AlignMode mode) {
    WatchedThread*& thread = guard.thread().data<WatchedThread>(ThreadSlot::align);
    if (!thread) {
        thread = static_cast<WatchedThread*>(allocate_pages(sizeof(WatchedThread), true));
        if (!thread)
            return false;
        keep_small_pages(thread, sizeof(WatchedThread));
    } else {
        memset(thread->counts, 0, site_count() * sizeof *thread->counts); // the former thread's records are finished
        const size_t before_counts = offsetof(WatchedThread, paths);
        memset(static_cast<void*>(thread), 0, before_counts);
    }
    if (!spend(guard, FileQuota::alignment, sizeof(trace::AlignTotals)))
        return false;
    trace::AlignTotals totals = {};
    totals.mode = static_cast<uint32_t>(mode);
    thread->totals = append(guard, trace::RecordType::AlignTotals, totals);
    if (!thread->totals)
        return false;
    thread->stack = find_stack_bounds();
    thread->paths.begin_thread(thread->stack);
    learn_stack(guard);
    this_thread_counts = thread->counts;
    watched_thread = thread;
    return true;
}

void unwatch_thread() {
    this_thread_counts = nullptr;
    watched_thread = nullptr;
}

void count_hit(WatchedThread& thread, Site& site, const ucontext_t& context, bool exact) {
    Registers registers;
    load_registers(context, site.instruction.length, registers);
    const Access access = access_of(site, registers);
    trace::AlignCount*& count = thread.counts[site.id];
    const uint64_t hit = count ? count->hits + 1 : 1;
    if (!count || is_kept(hit)) {
        const uint64_t time_ns = now_ns();
        const Guard guard;
        if (guard) {
            const Frames frames = frames_at(guard, thread, context, !count);
            if (!count) {
                thread.window_new = true;
                count = begin_count(guard, site, frames.caller, exact, time_ns);
            }
            if (count && access.known)
                write_address(guard, site, access, registers[kStackPointer], frames.frame_address, time_ns);
        }
        if (!count) {
            add_to_count(thread.totals->lost_hits, 1);
            return;
        }
        __atomic_store_n(&count->last_ns, time_ns, __ATOMIC_RELAXED);
    }
    add_to_count(thread.totals->hits, 1);
    if (access.known)
        count_access(*count, access.address, access.width);
    else
        add_to_count(count->hits, 1);
}

void record_slot(Site& site) {
    const uint32_t number = recording_number.load(std::memory_order_relaxed);
    if (__builtin_expect(site.slot_recorded.load(std::memory_order_relaxed) == number, 1))
        return;
    const Guard guard;
    if (!guard || site.slot_recorded.exchange(number, std::memory_order_relaxed) == number ||
        !spend(guard, FileQuota::alignment, sizeof(trace::AlignCode)))
        return;
    const SlotCode slot = code_of_slot(site);
    append(guard, trace::RecordType::AlignCode, trace::AlignCode{{}, slot.start, slot.end, slot.address});
}

void tell_own_cost(WatchedThread& thread) {
    trace_file().add_own_cost(thread.totals->trap_ns - thread.told_trap_ns);
    thread.told_trap_ns = thread.totals->trap_ns;
}

void take_back_hit(WatchedThread& thread, Site& site, const ucontext_t& context) {
    trace::AlignCount* const count = thread.counts[site.id];
    if (!count || count->hits == 0)
        return;
    Registers registers;
    load_registers(context, site.instruction.length, registers);
    const Access access = access_of(site, registers);
    add_to_count(thread.totals->hits, ~uint64_t{0});
    add_to_count(count->hits, ~uint64_t{0});
    if (!access.known)
        return;
    add_to_count(count->residues[access.address % 64], ~uint64_t{0});
    if (access.address % 4096 + access.width > 4096)
        add_to_count(count->page_crossings, ~uint64_t{0});
}

void begin_site_recording() { recording_number.fetch_add(1, std::memory_order_relaxed); }

} // namespace plumb::shim
