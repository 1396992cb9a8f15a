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
#include <sys/auxv.h>

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

uint64_t signal_return = 0; // the kernel's code that handlers return to, where no table describes it; 0: not known

// In the image that the kernel maps into every process.
uint64_t find_signal_return() {
    const uint64_t base = getauxval(AT_SYSINFO_EHDR);
    if (!kReturnsByLink || base == 0)
        return 0;
    const auto* image = reinterpret_cast<const ElfW(Ehdr)*>(base);
    const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(base + image->e_phoff);
    for (int i = 0; i < image->e_phnum; ++i) // which begins with its first segment, its only one
        if (segments[i].p_type == PT_LOAD)
            for (uint64_t at = 0; at + kSignalReturnBytes <= segments[i].p_filesz; at += 4)
                if (is_signal_return(reinterpret_cast<const uint8_t*>(base + at)))
                    return base + at;
    return 0;
}

UnwindRule compute_rule(uint64_t pc) {
    const void* header = find_header(pc);
    const UnwindRule rule = header ? read_unwind_rule(header, pc) : UnwindRule{CfaKind::no_table, BpKind::kept, 0, 0};
    if (kReturnsByLink && rule.cfa == CfaKind::no_table && signal_return != 0 && pc + 1 == signal_return)
        return {CfaKind::signal_frame, BpKind::kept, 0, 0};
    return rule;
}

} // namespace

void start_unwinding() {
    find_object = reinterpret_cast<decltype(find_object)>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
    signal_return = find_signal_return();
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
