#include "record/align/sites/site.h"

#include "platform/os/memory.h"
#include "record/align/rewriting/rewrite.h"

#include <plumb/trace_format.h>
#include <string.h>

namespace plumb::shim {
namespace {

constexpr uint32_t kPlaces = 4 * kSitesMax;
constexpr uint32_t kProbes = 64;
constexpr size_t kLongestInstruction = 15;

Site* sites = nullptr;
std::atomic<uint32_t>* places = nullptr; // ids; 0: free
std::atomic<uint32_t> next_id{1};

uint32_t first_place(uint64_t address) { return static_cast<uint32_t>(address * 0x9e3779b97f4a7c15u >> 40) % kPlaces; }

// Instructions may end where their mapping ends: the next page is touched only when the bytes before do not decode.
bool decode_at(uint64_t address, MemoryInstruction* instruction) {
    const auto* code = reinterpret_cast<const uint8_t*>(address);
    const size_t in_page = 4096 - address % 4096;
    if (in_page < kLongestInstruction)
        return decode_memory_instruction(code, in_page, instruction) ||
               decode_memory_instruction(code, kLongestInstruction, instruction);
    return decode_memory_instruction(code, kLongestInstruction, instruction);
}

// Strings and `push mem` have two operands: the wider one counts, of equal ones that which is not the stack.
uint8_t operand_to_report(const MemoryInstruction& instruction) {
    uint8_t best = 0;
    for (uint8_t i = 1; i < instruction.operand_count; ++i)
        if (instruction.operands[i].width > instruction.operands[best].width ||
            (instruction.operands[i].width == instruction.operands[best].width && instruction.operands[best].stack))
            best = i;
    return best;
}

uint32_t flags_of(const MemoryInstruction& instruction) {
    uint32_t flags = 0;
    for (uint32_t i = 0; i < instruction.operand_count; ++i) {
        const MemoryOperand& operand = instruction.operands[i];
        flags |= operand.load ? uint32_t{trace::kAlignLoad} : 0;
        flags |= operand.store ? uint32_t{trace::kAlignStore} : 0;
    }
    if (instruction.operand_count == 1 && instruction.operands[0].stack)
        flags |= trace::kAlignStack;
    return flags | (instruction.locked ? uint32_t{trace::kAlignLocked} : 0) |
           (instruction.string ? uint32_t{trace::kAlignString} : 0) |
           (instruction.vector ? uint32_t{trace::kAlignPacked} : 0);
}

void describe(Site* site, uint64_t address) {
    site->address = address;
    site->decoded = decode_at(address, &site->instruction);
    if (!site->decoded) {
        site->instruction = {};
        site->instruction.length = 1; // what is compared to notice other code
    }
    memcpy(site->code, reinterpret_cast<const void*>(address), site->instruction.length);
    site->measured = operand_to_report(site->instruction);
    site->width = site->instruction.operand_count > 0 ? site->instruction.operands[site->measured].width : 0;
    site->flags = flags_of(site->instruction);
}

bool has_its_code(const Site& site) {
    return memcmp(site.code, reinterpret_cast<const void*>(site.address), site.instruction.length) == 0;
}

Site* add(uint64_t address) {
    uint32_t id = next_id.load(std::memory_order_relaxed);
    do {
        if (id >= kSitesMax)
            return nullptr;
    } while (!next_id.compare_exchange_weak(id, id + 1, std::memory_order_relaxed));
    Site* site = &sites[id];
    site->id = id;
    describe(site, address);
    return site;
}

} // namespace

bool allocate_sites() {
    if (sites)
        return true;
    sites = static_cast<Site*>(allocate_pages(kSitesMax * sizeof(Site), false));
    places = static_cast<std::atomic<uint32_t>*>(allocate_pages(kPlaces * sizeof *places, false));
    if (!sites || !places)
        return false;
    keep_small_pages(sites, kSitesMax * sizeof(Site));
    keep_small_pages(places, kPlaces * sizeof *places);
    return true;
}

Site* site_at(uint64_t address) {
    Site* added = nullptr;
    for (uint32_t probe = 0, place = first_place(address); probe < kProbes; ++probe, place = (place + 1) % kPlaces) {
        uint32_t id = places[place].load(std::memory_order_acquire);
        if (id == 0) {
            if (!added && !(added = add(address)))
                return nullptr;
            if (places[place].compare_exchange_strong(id, added->id, std::memory_order_acq_rel))
                return added;
        }
        Site& site = sites[id]; // also when another thread was faster
        if (site.address != address || site.stale.load(std::memory_order_relaxed))
            continue;
        if (has_its_code(site) ||
            (site.rewrite.load(std::memory_order_acquire) != 0 && is_rewriting_of(site.address, site.code)))
            return &site;
        site.stale.store(true, std::memory_order_relaxed);
    }
    return nullptr;
}

Site* site_of_id(uint32_t id) { return &sites[id]; }
uint32_t site_count() { return next_id.load(std::memory_order_relaxed); }

} // namespace plumb::shim
