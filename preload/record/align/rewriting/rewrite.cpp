#include "record/align/rewriting/rewrite.h"

#include "platform/code/code_patch.h"
#include "platform/code/movable_code.h"
#include "platform/code/near_code.h"
#include "platform/os/hidden.h"
#include "platform/os/memory.h"
#include "platform/os/system_call.h"
#include "record/align/rewriting/jump_choice.h"

#include <atomic>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>

namespace plumb::shim {
namespace {

// Filled and published by the thread that holds the lock; never given back, since threads may stand in the code.
struct Entry {
    Trampoline trampoline;
    RewrittenSite site;
    CodePatch patch;
    uint64_t depends_end;         // first byte behind the jump: what follows a short site must not change
    uint8_t following[8];         // the bytes from the site's end to there
    std::atomic<bool> in_place;   // the jump stands in the program
};
Entry* entries; // kMostRewritten of them, touched as they are used; null: nothing is prepared
std::atomic<uint32_t> entry_count{0};

std::atomic<bool> locked{false};
std::atomic<bool> enabled{false};
TrampolineVariables variables;

__thread uint64_t saved_rax __attribute__((tls_model("initial-exec"))) PLUMB_HIDDEN;
__thread uint64_t saved_rcx __attribute__((tls_model("initial-exec"))) PLUMB_HIDDEN;

// Never waits: the holder may be the interrupted thread itself, or stopped.
class TryLock {
  public:
    TryLock() : held_(!locked.exchange(true, std::memory_order_acquire)) {}
    ~TryLock() {
        if (held_)
            locked.store(false, std::memory_order_release);
    }
    TryLock(const TryLock&) = delete;
    TryLock& operator=(const TryLock&) = delete;
    explicit operator bool() const { return held_; }

  private:
    bool held_;
};

// Addresses of sites and of their breakpoints, each to the latest entry that has it. Open addressing; only grows.
constexpr uint32_t kSlots = 4 * kMostRewritten;
struct AddressSlot {
    std::atomic<uint64_t> address;
    std::atomic<uint32_t> entry; // index + 1
};
AddressSlot* slots; // kSlots of them, null: nothing is prepared

bool allocate_tables() {
    constexpr size_t entry_bytes = kMostRewritten * sizeof(Entry), slot_bytes = kSlots * sizeof(AddressSlot);
    if (!entries)
        entries = static_cast<Entry*>(allocate_pages(entry_bytes, false));
    if (!slots)
        slots = static_cast<AddressSlot*>(allocate_pages(slot_bytes, false));
    if (!entries || !slots)
        return false;
    keep_small_pages(entries, entry_bytes);
    return true;
}

AddressSlot* slot_of(uint64_t address) {
    if (!slots)
        return nullptr;
    uint32_t at = static_cast<uint32_t>(address * 0x9e3779b97f4a7c15ull >> 50) % kSlots;
    for (uint32_t tried = 0; tried < kSlots; ++tried, at = (at + 1) % kSlots) {
        const uint64_t there = slots[at].address.load(std::memory_order_acquire);
        if (there == address || there == 0)
            return &slots[at];
    }
    return nullptr;
}

Entry* entry_at(uint64_t address) {
    const AddressSlot* slot = slot_of(address);
    if (!slot || slot->address.load(std::memory_order_acquire) != address)
        return nullptr;
    const uint32_t index = slot->entry.load(std::memory_order_acquire);
    return index ? &entries[index - 1] : nullptr;
}

void publish(uint64_t address, uint32_t index) {
    if (AddressSlot* slot = slot_of(address)) {
        slot->entry.store(index + 1, std::memory_order_release);
        slot->address.store(address, std::memory_order_release);
    }
}

int32_t from_thread_pointer(const void* variable) {
    uint64_t thread_pointer;
    __asm__("movq %%fs:0, %0" : "=r"(thread_pointer));
    return static_cast<int32_t>(reinterpret_cast<uint64_t>(variable) - thread_pointer);
}

// Which leading bytes of the site other jumps rely on; false: others, or all of its bytes.
bool find_kept_bytes(uint64_t address, uint8_t length, uint8_t* kept) {
    *kept = 0;
    const uint32_t count = entry_count.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < count; ++i) {
        const Entry& other = entries[i];
        if (!other.in_place.load(std::memory_order_relaxed) || other.depends_end <= address ||
            other.patch.address >= address + length)
            continue;
        if (other.patch.address >= address || other.depends_end >= address + length ||
            other.patch.address + other.patch.length > address)
            return false;
        const uint64_t bytes = other.depends_end - address;
        if (bytes > *kept)
            *kept = static_cast<uint8_t>(bytes);
    }
    return true;
}

constexpr uint64_t kStubBytes = 16;

void write_stub(uint64_t at, uint64_t target) {
    uint8_t code[kStubBytes] = {0xff, 0x25, 2}; // jmp *2(%rip): the address is read with the alignment flag set
    memcpy(code + 8, &target, sizeof target);
    memcpy(reinterpret_cast<void*>(at), code, sizeof code);
}

// From where an address can be reached by 32-bit displacements, with room for the trampoline itself.
AddressRange around(uint64_t address) {
    constexpr uint64_t kReach = (1ull << 31) - (1 << 20);
    return {address > kReach ? address - kReach : 0, address + kReach};
}

AddressRange common_part(AddressRange a, AddressRange b) {
    return {a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
}

// Emits the trampoline with its entry within `range`.
bool place_trampoline(Trampoline* trampoline, AddressRange range, uint16_t owner) {
    uint8_t code[kMostTrampolineBytes];
    trampoline->code = trampoline->address; // in reach of everything: for the sizes
    if (!emit_trampoline(trampoline, variables, code))
        return false;
    range = common_part(range, around(trampoline->address));
    if (trampoline->instruction.displacement_at)
        range = common_part(range, around(trampoline->instruction.relative_target));
    if (range.low >= range.high)
        return false;
    const uint64_t entry = trampoline->entry;
    const AddressRange starts{range.low > entry ? range.low - entry : 0, range.high > entry ? range.high - entry : 0};
    trampoline->code = allocate_near_code(starts, trampoline->bytes, owner);
    if (!trampoline->code || !emit_trampoline(trampoline, variables, code))
        return false;
    memcpy(reinterpret_cast<void*>(trampoline->code), code, trampoline->bytes);
    return true;
}

// Finds room for the trampoline such that the jump `choice` gets there; the jump's target, 0: none.
uint64_t place(Entry& entry, const JumpChoice& choice, uint16_t owner) {
    const bool narrow = choice.targets.high - choice.targets.low <= 256;
    if (!narrow)
        return place_trampoline(&entry.trampoline, choice.targets, owner)
                   ? entry.trampoline.code + entry.trampoline.entry
                   : 0;
    const uint64_t stub = allocate_near_code(choice.targets, kStubBytes, owner);
    if (!stub || !place_trampoline(&entry.trampoline, around(entry.trampoline.address), owner))
        return 0;
    write_stub(stub, entry.trampoline.code + entry.trampoline.entry);
    entry.site.stub_start = stub;
    entry.site.stub_end = stub + kStubBytes;
    return stub;
}

RewriteResult put_in_place(Entry& entry) {
    entry.in_place.store(true, std::memory_order_release);
    if (apply_patch(entry.patch) == 0)
        return RewriteResult::done;
    entry.in_place.store(false, std::memory_order_release);
    return RewriteResult::kernel;
}

// A site that was taken back, or whose module was unloaded and loaded again: its trampoline still serves.
bool serves_again(const Entry& entry, uint64_t address, const uint8_t* code, uint8_t length, uint32_t site,
                  uint8_t kept, bool counts) {
    return entry.trampoline.uncounted != counts && entry.patch.address == address && entry.patch.length == length && entry.patch.kept == kept &&
           entry.site.site == site && memcmp(entry.patch.before, code, length) == 0 &&
           memcmp(entry.following, code + length, entry.depends_end - address - length) == 0;
}

RewriteResult rewrite_locked(uint64_t address, const uint8_t* known, const MemoryInstruction& decoded,
                             uint32_t site, bool counts) {
    uint8_t code[kJumpWindow];
    if (!is_file_code(address, sizeof code))
        return RewriteResult::code;
    memcpy(code, reinterpret_cast<const void*>(address), sizeof code);
    if (memcmp(code, known, decoded.length) != 0)
        return RewriteResult::code;
    MovableCode movable;
    if (!make_movable(code, address, decoded, &movable) || !is_trapping_width(decoded.operands[0].width))
        return RewriteResult::instruction;
    uint8_t kept = 0;
    if (!find_kept_bytes(address, decoded.length, &kept))
        return RewriteResult::neighbour;
    Entry* former = entry_at(address);
    if (former && serves_again(*former, address, code, decoded.length, site, kept, counts))
        return put_in_place(*former);
    const uint32_t index = entry_count.load(std::memory_order_relaxed);
    if (index == kMostRewritten)
        return RewriteResult::full;

    Entry& entry = entries[index];
    entry.site = {};
    entry.trampoline = {};
    entry.trampoline.address = address;
    entry.trampoline.site = site;
    entry.trampoline.uncounted = !counts;
    entry.trampoline.operand = decoded.operands[0];
    entry.trampoline.instruction = movable;
    JumpChoice choices[kMostJumpChoices];
    const int count = jump_choices(code, address, decoded.length, kept, choices);
    if (count == 0 && kept != 0)
        return RewriteResult::neighbour;
    const uint16_t owner = static_cast<uint16_t>(index + 1);
    for (int i = 0; i < count; ++i) {
        const uint64_t target = place(entry, choices[i], owner);
        if (!target)
            continue;
        entry.patch = {};
        entry.patch.address = address;
        entry.patch.length = decoded.length;
        entry.patch.kept = kept;
        memcpy(entry.patch.before, code, decoded.length);
        write_jump(choices[i], code, address, decoded.length, kept, target, entry.patch.after);
        entry.depends_end = address + choices[i].prefixes + 5u;
        if (entry.depends_end < address + decoded.length)
            entry.depends_end = address + decoded.length;
        entry.site.site = site;
        entry.site.address = address;
        memcpy(entry.following, code + decoded.length, entry.depends_end - address - decoded.length);
        entry.site.code_start = entry.trampoline.code;
        entry.site.code_end = entry.trampoline.code + entry.trampoline.bytes;
        // Everything that a thread in the breakpoint or the trampoline needs is there before the first byte changes.
        entry_count.store(index + 1, std::memory_order_release);
        publish(address, index);
        publish(address + kept, index);
        return put_in_place(entry);
    }
    return RewriteResult::reach;
}

// Reads what may not be mapped any more. False: it is not, or it cannot be determined.
bool read_safely(uint64_t address, uint8_t* bytes, size_t length) {
    iovec here{bytes, length}, there{reinterpret_cast<void*>(address), length};
    return system_call(SYS_process_vm_readv, system_call(SYS_getpid), word(&here), 1, word(&there), 1, 0) ==
           static_cast<long>(length);
}

} // namespace

const char* describe(RewriteResult result) {
    switch (result) {
    case RewriteResult::done: return "rewritten";
    case RewriteResult::busy: return "waiting for another site";
    case RewriteResult::instruction: return "instructions that cannot be moved";
    case RewriteResult::code: return "in generated, writable or shared code";
    case RewriteResult::neighbour: return "too close to another rewritten site";
    case RewriteResult::reach: return "out of reach of any free address";
    case RewriteResult::kernel: return "protected by the kernel";
    case RewriteResult::full: return "the table is full";
    case RewriteResult::count: break;
    }
    return "";
}

bool prepare_rewriting(trace::AlignCount*** counts) {
    variables = {from_thread_pointer(&saved_rax), from_thread_pointer(&saved_rcx), from_thread_pointer(counts)};
    const bool possible = can_patch_code() && allocate_tables();
    enabled.store(possible, std::memory_order_release);
    return possible;
}

void stop_rewriting() { enabled.store(false, std::memory_order_release); }

RewriteResult rewrite_site(uint64_t address, const uint8_t* code, const MemoryInstruction& decoded, uint32_t site,
                           RewrittenSite* rewritten, bool counts) {
    if (!enabled.load(std::memory_order_acquire))
        return RewriteResult::kernel;
    TryLock lock;
    if (!lock)
        return RewriteResult::busy;
    if (Entry* known = entry_at(address);
        known && known->patch.address == address && known->in_place.load(std::memory_order_acquire)) {
        if (memcmp(reinterpret_cast<const void*>(address), known->patch.after, known->patch.length) == 0) {
            *rewritten = known->site;
            return RewriteResult::done;
        }
        known->in_place.store(false, std::memory_order_release); // other code has been loaded there since
    }
    const RewriteResult result = rewrite_locked(address, code, decoded, site, counts);
    if (result == RewriteResult::done)
        *rewritten = entry_at(address)->site;
    return result;
}

bool restore_site(uint64_t address) {
    TryLock lock;
    Entry* entry = lock ? entry_at(address) : nullptr;
    if (!entry || entry->patch.address != address || !entry->in_place.load(std::memory_order_acquire))
        return false;
    const uint32_t count = entry_count.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < count; ++i) {
        const Entry& other = entries[i];
        if (&other != entry && other.in_place.load(std::memory_order_relaxed) && other.patch.address < address &&
            other.depends_end > address + entry->patch.kept)
            return false;
    }
    if (undo_patch(entry->patch) < 0)
        return false;
    entry->in_place.store(false, std::memory_order_release);
    return true;
}

void take_back_rewriting() {
    stop_rewriting();
    for (uint32_t i = entry_count.load(std::memory_order_acquire); i > 0; --i) // later ones may rely on earlier ones
        restore_site(entries[i - 1].patch.address);
}

void forget_lost_sites() {
    TryLock lock;
    if (!lock)
        return;
    const uint32_t count = entry_count.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < count; ++i) {
        Entry& entry = entries[i];
        uint8_t now[16];
        if (entry.in_place.load(std::memory_order_relaxed) &&
            (!read_safely(entry.patch.address, now, entry.patch.length) ||
             memcmp(now, entry.patch.after, entry.patch.length) != 0))
            entry.in_place.store(false, std::memory_order_release);
    }
}

void rewriting_after_fork() {
    finish_interrupted_patch();
    locked.store(false, std::memory_order_release);
}

bool leave_rewritten_code(void* context) {
    if (entry_count.load(std::memory_order_acquire) == 0)
        return false;
    auto& rip = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
    const uint16_t owner = owner_of_near_code(static_cast<uint64_t>(rip));
    if (!owner)
        return false;
    const Entry& entry = entries[owner - 1];
    if (static_cast<uint64_t>(rip) - entry.trampoline.code < entry.trampoline.bytes)
        leave_trampoline(entry.trampoline, variables, context);
    else
        rip = static_cast<greg_t>(entry.trampoline.address); // in the stub nothing has changed yet
    return true;
}

bool pass_patch_breakpoint(void* context) {
    auto& rip = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
    const Entry* entry = entry_at(static_cast<uint64_t>(rip) - 1);
    if (!entry || entry->patch.address + entry->patch.kept != static_cast<uint64_t>(rip) - 1)
        return false;
    rip = static_cast<greg_t>(entry->trampoline.code + entry->trampoline.entry);
    return true;
}

bool is_rewriting_of(uint64_t address, const uint8_t* code) {
    const Entry* entry = entry_at(address);
    if (!entry || entry->patch.address != address || memcmp(entry->patch.before, code, entry->patch.length) != 0)
        return false;
    const CodePatch& patch = entry->patch;
    constexpr uint8_t kBreakpoint = 0xcc;
    for (int i = 0; i < patch.length; ++i) {
        const uint8_t byte = reinterpret_cast<const std::atomic<uint8_t>*>(address)[i].load(std::memory_order_relaxed);
        if (byte != patch.before[i] && byte != patch.after[i] && !(i == patch.kept && byte == kBreakpoint))
            return false;
    }
    return true;
}

bool find_rewritten(uint64_t address, RewrittenSite* rewritten) {
    const Entry* entry = entry_at(address);
    if (!entry || entry->patch.address != address || !entry->in_place.load(std::memory_order_acquire))
        return false;
    *rewritten = entry->site;
    return true;
}

uint64_t step_over_rewritten(uint64_t address) {
    const Entry* entry = entry_at(address);
    return entry && entry->patch.address == address && entry->in_place.load(std::memory_order_acquire)
               ? entry->trampoline.code + entry->trampoline.step
               : 0;
}

} // namespace plumb::shim
