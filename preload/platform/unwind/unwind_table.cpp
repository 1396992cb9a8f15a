// What must hold in the table of rules:
//  - A slot's address is written once, by the thread that won it, and never changes: readers need no lock.
//  - A slot's rule may be stored any number of times, always whole. 0 means "not known (any more)".
//  - When the neighbourhood of a slot is full the rule is computed each time: slower, never wrong.
#include "platform/unwind/unwind_table.h"

#include "platform/unwind/unwind_cfi.h"
#include "platform/unwind/unwind_registers.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

namespace plumb::shim {

UnwindSlot unwind_slots[1u << kUnwindSlotBits]; // touched as code is met
uint32_t unwind_rules_forgotten;

namespace {

constexpr uint32_t kProbes = 8;

// Programs unload dozens of modules in a row: only blocks of slots that were ever used are looked through.
constexpr uint32_t kBlockSlots = 16;
uint8_t block_is_used[(1u << kUnwindSlotBits) / kBlockSlots];

// glibc 2.35 and later; the layout is fixed by its ABI. Declared here so that the shim builds with older headers and
// finds the function only where it exists.
struct FoundObject {
    uint64_t flags;
    void* map_start;
    void* map_end;
    link_map* map;
    void* eh_frame_header;
    uint64_t reserved[7];
};
int (*find_object)(void*, FoundObject*);

struct PhdrQuery {
    uint64_t pc;
    const void* header;
};

int match_module(dl_phdr_info* info, size_t, void* argument) {
    PhdrQuery* query = static_cast<PhdrQuery*>(argument);
    const void* header = nullptr;
    bool covers = false;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        const uint64_t start = info->dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_LOAD && query->pc - start < segment.p_memsz)
            covers = true;
        else if (segment.p_type == PT_GNU_EH_FRAME)
            header = reinterpret_cast<const void*>(start);
    }
    if (!covers)
        return 0;
    query->header = header;
    return 1;
}

const void* find_header(uint64_t pc) {
    if (find_object) {
        FoundObject found;
        return find_object(reinterpret_cast<void*>(pc), &found) == 0 ? found.eh_frame_header : nullptr;
    }
    // Takes the loader's lock: not signal-safe, but glibc before 2.35 has nothing better, and every address is
    // looked up once only.
    PhdrQuery query{pc, nullptr};
    dl_iterate_phdr(match_module, &query);
    return query.header;
}

// Whether a handler's return address leads to the kernel's code that ends it.
bool returns_from_signal(uint64_t address) {
    constexpr uint64_t kBytes = 8;
    return (address & 3) == 0 && (address & 4095) <= 4096 - kBytes && is_signal_return(reinterpret_cast<const uint8_t*>(address));
}

UnwindRule compute_rule(uint64_t pc) {
    const void* header = find_header(pc);
    const UnwindRule rule = header ? read_unwind_rule(header, pc) : UnwindRule{CfaKind::no_table, BpKind::kept, 0, 0};
    if (kReturnsByLink && rule.cfa == CfaKind::no_table && returns_from_signal(pc + 1))
        return {CfaKind::signal_frame, BpKind::kept, 0, 0};
    return rule;
}

} // namespace

void start_unwinding() {
    find_object = reinterpret_cast<decltype(find_object)>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
}

UnwindRule find_unwind_rule(uint64_t pc) {
    const uint32_t home = unwind_slot_of(pc);
    for (uint32_t probe = 0; probe < kProbes; ++probe) {
        const uint32_t index = (home + probe) & ((1u << kUnwindSlotBits) - 1);
        UnwindSlot& slot = unwind_slots[index];
        uint64_t owner = __atomic_load_n(&slot.pc, __ATOMIC_RELAXED);
        if (owner == 0 && __atomic_compare_exchange_n(&slot.pc, &owner, pc, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            owner = pc;
        if (owner != pc)
            continue;
        const uint64_t known = __atomic_load_n(&slot.rule, __ATOMIC_RELAXED);
        if (known)
            return UnwindRule::unpack(known);
        const UnwindRule rule = compute_rule(pc);
        __atomic_store_n(&block_is_used[index / kBlockSlots], 1, __ATOMIC_RELEASE);
        __atomic_store_n(&slot.rule, rule.pack(), __ATOMIC_RELAXED);
        return rule;
    }
    return compute_rule(pc);
}

void forget_unwind_rules() {
    __atomic_add_fetch(&unwind_rules_forgotten, 1, __ATOMIC_ACQ_REL);
    for (uint32_t block = 0; block < sizeof block_is_used; ++block) {
        if (!__atomic_load_n(&block_is_used[block], __ATOMIC_ACQUIRE))
            continue;
        for (uint32_t i = 0; i < kBlockSlots; ++i)
            if (UnwindSlot& slot = unwind_slots[block * kBlockSlots + i]; __atomic_load_n(&slot.rule, __ATOMIC_RELAXED))
                __atomic_store_n(&slot.rule, 0, __ATOMIC_RELAXED);
    }
}

} // namespace plumb::shim
