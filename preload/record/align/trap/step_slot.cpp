// A slot of 64 bytes:
//     0   the instruction, L bytes, its operand adjusted if it is relative to the next instruction
//     L   lea -128(%rsp), %rsp        past the red zone
//   + 5   pushfq
//   + 6   orl $0x40000, (%rsp)
//   +13   popfq
//   +14   lea 128(%rsp), %rsp
//   +22   jmp *56(slot)
//    48   address of the original instruction
//    56   address behind it
#include "record/align/trap/step_slot.h"

#include "platform/code/alignment_flag.h"
#include "platform/code/code_memory.h"

#include <string.h>

namespace plumb::shim {
namespace {

constexpr size_t kSlotBytes = 64;
constexpr size_t kPoolBytes = 64 * 1024;
constexpr uint32_t kPoolsMax = 64;
constexpr size_t kAddressAt = 48, kReturnAt = 56;
constexpr int64_t kReach = 0x7ff00000; // of 32-bit displacements, less a pool
constexpr uint8_t kEpilogue[] = {0x48, 0x8d, 0x64, 0x24, 0x80,                         // lea -128(%rsp), %rsp
                                 0x9c,                                                 // pushfq
                                 0x81, 0x0c, 0x24, 0x00, 0x00, 0x04, 0x00,             // orl $0x40000, (%rsp)
                                 0x9d,                                                 // popfq
                                 0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00,       // lea 128(%rsp), %rsp
                                 0xff, 0x25};                                          // jmp *displacement(%rip)
constexpr size_t kLongest = 15;
static_assert(kLongest + sizeof kEpilogue + 4 <= kAddressAt);

struct Pool {
    std::atomic<uint64_t> start; // 0: not there yet
    uint32_t used;               // slots; changed under `building`
};
Pool pools[kPoolsMax];
std::atomic<uint32_t> pool_count{0};
std::atomic<uint32_t> building{0};

// pushf stores the flag that is clear at that moment, popf takes it away.
bool touches_flags_image(const Site& site) {
    for (uint32_t i = 0; i < site.instruction.length; ++i) {
        const uint8_t byte = site.code[i];
        if (byte == 0x66 || (byte & 0xf0) == 0x40)
            continue;
        return byte == 0x9c || byte == 0x9d;
    }
    return true;
}

bool is_relative(const MemoryInstruction& instruction) {
    for (uint32_t i = 0; i < instruction.operand_count; ++i)
        if (instruction.operands[i].base == kNextInstruction)
            return true;
    return false;
}

bool can_run_elsewhere(const Site& site) {
    const MemoryInstruction& instruction = site.instruction;
    if (!site.decoded || instruction.branch || touches_flags_image(site))
        return false;
    const bool switches_stack = instruction.overwritten >> kStackPointer & 1;
    for (uint32_t i = 0; i < instruction.operand_count; ++i)
        if (instruction.operands[i].stack)
            return true;
    return !switches_stack && instruction.operand_count > 0;
}

bool reaches(uint64_t from, uint64_t to) {
    const int64_t distance = static_cast<int64_t>(to - from);
    return distance < kReach && distance > -kReach;
}

uint8_t* take_slot(uint64_t address) {
    const uint32_t count = pool_count.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < count; ++i) {
        Pool& pool = pools[i];
        const uint64_t start = pool.start.load(std::memory_order_relaxed);
        if (pool.used < kPoolBytes / kSlotBytes && reaches(start, address))
            return reinterpret_cast<uint8_t*>(start) + kSlotBytes * pool.used++;
    }
    if (count == kPoolsMax)
        return nullptr;
    uint8_t* code = allocate_code(address, kPoolBytes);
    if (!code)
        return nullptr;
    pools[count].start.store(reinterpret_cast<uint64_t>(code), std::memory_order_relaxed);
    pools[count].used = 1;
    pool_count.store(count + 1, std::memory_order_release);
    return code;
}

// Makes the copy in `slot` address what the original addresses. Where the displacement stands in the instruction is
// found by trying, and proved by decoding the result.
bool relocate(const MemoryInstruction& original, uint64_t address, uint8_t* slot) {
    int64_t displacement = 0;
    for (uint32_t i = 0; i < original.operand_count; ++i)
        if (original.operands[i].base == kNextInstruction)
            displacement = original.operands[i].displacement;
    const int64_t moved = displacement + static_cast<int64_t>(address - reinterpret_cast<uint64_t>(slot));
    const int32_t former = static_cast<int32_t>(displacement), wanted = static_cast<int32_t>(moved);
    if (moved != wanted)
        return false;
    for (uint32_t at = 1; at + sizeof former <= original.length; ++at) {
        if (memcmp(slot + at, &former, sizeof former) != 0)
            continue;
        memcpy(slot + at, &wanted, sizeof wanted);
        MemoryInstruction copy;
        if (decode_memory_instruction(slot, original.length, &copy) && copy.length == original.length &&
            copy.operand_count == original.operand_count && copy.overwritten == original.overwritten) {
            bool same = true;
            for (uint32_t i = 0; i < copy.operand_count; ++i) {
                const MemoryOperand &now = copy.operands[i], &then = original.operands[i];
                same &= now.base == then.base && now.index == then.index && now.width == then.width &&
                        now.displacement == (then.base == kNextInstruction ? moved : then.displacement);
            }
            if (same)
                return true;
        }
        memcpy(slot + at, &former, sizeof former);
    }
    return false;
}

bool build(Site& site) {
    uint8_t* slot = take_slot(site.address);
    if (!slot)
        return false;
    const uint32_t length = site.instruction.length;
    memcpy(slot, site.code, length);
    if (is_relative(site.instruction) && !relocate(site.instruction, site.address, slot))
        return false;
    uint8_t* at = slot + length;
    memcpy(at, kEpilogue, sizeof kEpilogue);
    at += sizeof kEpilogue;
    const int32_t to_return = static_cast<int32_t>(slot + kReturnAt - (at + 4));
    memcpy(at, &to_return, sizeof to_return);
    const uint64_t behind = site.address + length;
    memcpy(slot + kAddressAt, &site.address, sizeof site.address);
    memcpy(slot + kReturnAt, &behind, sizeof behind);
    site.slot.store(reinterpret_cast<uint64_t>(slot), std::memory_order_release);
    return true;
}

} // namespace

uint64_t slot_of(Site& site) {
    if (site.slot_state.load(std::memory_order_acquire) == SlotState::none) {
        uint32_t free = 0;
        if (!building.compare_exchange_strong(free, 1, std::memory_order_acquire))
            return 0; // another thread builds one: this hit takes a single step
        if (site.slot_state.load(std::memory_order_relaxed) == SlotState::none) {
            const bool built = can_run_elsewhere(site) && build(site);
            site.slot_state.store(built ? SlotState::ready : SlotState::impossible, std::memory_order_release);
        }
        building.store(0, std::memory_order_release);
    }
    return site.slot.load(std::memory_order_acquire);
}

SlotCode code_of_slot(const Site& site) {
    const uint64_t start = site.slot.load(std::memory_order_relaxed);
    return {start, start + kSlotBytes, site.address};
}

bool is_in_slot(uint64_t pc) {
    const uint32_t count = pool_count.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < count; ++i)
        if (pc - pools[i].start.load(std::memory_order_relaxed) < kPoolBytes)
            return true;
    return false;
}

void continue_slots_in_child() { building.store(0, std::memory_order_relaxed); }

uint64_t instruction_of_slot(uint64_t pc) {
    if (!is_in_slot(pc))
        return 0;
    uint64_t original;
    memcpy(&original, reinterpret_cast<const void*>((pc & ~uint64_t{kSlotBytes - 1}) + kAddressAt), sizeof original);
    return original;
}

void leave_slot(ucontext_t* context) {
    greg_t* registers = context->uc_mcontext.gregs;
    const uint64_t pc = static_cast<uint64_t>(registers[REG_RIP]);
    const uint64_t slot = pc & ~uint64_t{kSlotBytes - 1};
    uint64_t original, behind;
    memcpy(&original, reinterpret_cast<const void*>(slot + kAddressAt), sizeof original);
    memcpy(&behind, reinterpret_cast<const void*>(slot + kReturnAt), sizeof behind);
    const uint64_t length = behind - original;
    const uint64_t at = pc - slot;
    if (at < length) {
        registers[REG_RIP] = static_cast<greg_t>(original);
    } else {
        const uint64_t step = at - length;
        registers[REG_RIP] = static_cast<greg_t>(behind);
        if (step == 13) // the flags are those of `orl` now, the program's are on the stack
            memcpy(&registers[REG_EFL], reinterpret_cast<const void*>(registers[REG_RSP]), sizeof(greg_t));
        if (step == 6 || step == 13)
            registers[REG_RSP] += 136;
        else if (step == 5 || step == 14)
            registers[REG_RSP] += 128;
    }
    registers[REG_EFL] |= static_cast<greg_t>(kAlignmentFlag);
}

} // namespace plumb::shim
