// Sites and slots with real machine code in a page of its own.
#include "record/align/trap/step_slot.h"

#include "platform/code/alignment_flag.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <sys/mman.h>
#include <vector>

using namespace plumb::shim;

#if defined(__x86_64__)
namespace {

constexpr size_t kPage = 4096;

class CodePage {
  public:
    CodePage()
        : bytes_(static_cast<uint8_t*>(mmap(nullptr, kPage, PROT_READ | PROT_WRITE | PROT_EXEC,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        REQUIRE(bytes_ != MAP_FAILED);
        REQUIRE(load_decoder(nullptr));
        REQUIRE(allocate_sites());
    }
    // The instruction at the next free place, `ret` behind it.
    uint64_t add(const std::vector<uint8_t>& instruction) {
        uint8_t* at = bytes_ + used_;
        std::memcpy(at, instruction.data(), instruction.size());
        at[instruction.size()] = 0xc3;
        used_ += 32;
        return reinterpret_cast<uint64_t>(at);
    }
    uint8_t* bytes() { return bytes_; }

  private:
    uint8_t* bytes_; // left mapped: sites live for ever
    size_t used_ = 0;
};

Site& site_with_slot(uint64_t address) {
    Site* site = site_at(address);
    REQUIRE(site);
    REQUIRE(slot_of(*site) != 0);
    return *site;
}

// Runs the code at `address` as a function; slots leave the alignment flag set.
__attribute__((noinline)) uint64_t call(uint64_t address, const void* argument) {
    const uint64_t result = reinterpret_cast<uint64_t (*)(const void*)>(address)(argument);
    clear_alignment_flag();
    return result;
}

ucontext_t context_at(uint64_t pc, uint64_t sp, uint64_t flags) {
    ucontext_t context = {};
    context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(pc);
    context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(sp);
    context.uc_mcontext.gregs[REG_EFL] = static_cast<greg_t>(flags);
    return context;
}

} // namespace

TEST_CASE("a slot does what the instruction does, and leaves the alignment flag set") {
    CodePage page;
    const uint64_t data[2] = {0x1122334455667788, 0x99aabbccddeeff00};
    const auto* unaligned = reinterpret_cast<const char*>(data) + 3;
    for (const std::vector<uint8_t>& code : {std::vector<uint8_t>{0x48, 0x8b, 0x07},    // mov (%rdi), %rax
                                             std::vector<uint8_t>{0x8b, 0x47, 0x02},    // mov 2(%rdi), %eax
                                             std::vector<uint8_t>{0x0f, 0xb7, 0x07}}) { // movzwl (%rdi), %eax
        const uint64_t address = page.add(code);
        const Site& site = site_with_slot(address);
        CHECK(call(site.slot, unaligned) == call(address, unaligned));
        reinterpret_cast<uint64_t (*)(const void*)>(site.slot.load())(data);
        const bool set = alignment_flag();
        clear_alignment_flag();
        CHECK(set);
        const SlotCode slot = code_of_slot(site);
        CHECK(slot.address == address);
        CHECK((is_in_slot(slot.start) && is_in_slot(slot.end - 1) && !is_in_slot(address)));
    }
}

TEST_CASE("operands relative to the instruction are moved with it") {
    CodePage page;
    const uint64_t value = 0x0123456789abcdef;
    std::memcpy(page.bytes() + 1001, &value, sizeof value);
    // mov displacement(%rip), %rax at offset 0: the next instruction is at 7
    const uint64_t address = page.add({0x48, 0x8b, 0x05, 0xe2, 0x03, 0x00, 0x00});
    CHECK(call(site_with_slot(address).slot, nullptr) == value);
    // cmpl $imm, displacement(%rip) whose immediate has the same bytes as the displacement; sete %al is not needed
    const uint64_t compare = page.add({0x81, 0x3d, 0x10, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00});
    const Site& site = site_with_slot(compare);
    MemoryInstruction copy;
    REQUIRE(decode_memory_instruction(reinterpret_cast<const uint8_t*>(site.slot.load()), 15, &copy));
    CHECK(site.slot + copy.length + static_cast<uint64_t>(copy.operands[0].displacement) == compare + 10 + 0x10);
    uint32_t immediate;
    std::memcpy(&immediate, reinterpret_cast<const uint8_t*>(site.slot.load()) + 6, sizeof immediate);
    CHECK(immediate == 0x10);
}

TEST_CASE("the stack as the instruction finds it") {
    CodePage page;
    const uint64_t address = page.add({0x48, 0x8b, 0x04, 0x24}); // mov (%rsp), %rax: its own return address
    const uint64_t from_slot = call(site_with_slot(address).slot, nullptr);
    CHECK(from_slot != 0);
    CHECK(call(address, nullptr) == from_slot); // both calls return to the same place in call()
}

TEST_CASE("what cannot run elsewhere has no slot") {
    CodePage page;
    for (const std::vector<uint8_t>& code : {std::vector<uint8_t>{0xff, 0x17},          // call *(%rdi)
                                             std::vector<uint8_t>{0xff, 0x67, 0x01},    // jmp *1(%rdi)
                                             std::vector<uint8_t>{0xc3},                // ret
                                             std::vector<uint8_t>{0x9c},                // pushf
                                             std::vector<uint8_t>{0x66, 0x9d},          // popf
                                             std::vector<uint8_t>{0x48, 0x8b, 0x27},    // mov (%rdi), %rsp
                                             std::vector<uint8_t>{0x06, 0x06}}) {       // no instruction
        Site* site = site_at(page.add(code));
        REQUIRE(site);
        CHECK(slot_of(*site) == 0);
    }
}

TEST_CASE("a thread that is interrupted in a slot stands in the program") {
    CodePage page;
    const uint64_t address = page.add({0x48, 0x8b, 0x07});
    const uint64_t slot = site_with_slot(address).slot;
    constexpr uint64_t length = 3, sp = 0x7000;
    constexpr uint64_t kCarry = 1;
    uint64_t image = 0x202 | kCarry;
    const struct {
        uint64_t at, pc, sp, expected_sp;
    } states[] = {{0, address, sp, sp},
                  {length, address + length, sp, sp},
                  {length + 5, address + length, sp - 128, sp},
                  {length + 6, address + length, sp - 136, sp},
                  {length + 14, address + length, sp - 128, sp},
                  {length + 22, address + length, sp, sp}};
    for (const auto& state : states) {
        ucontext_t context = context_at(slot + state.at, state.sp, 0x202 | kCarry);
        leave_slot(&context);
        CHECK(static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]) == state.pc);
        CHECK(static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]) == state.expected_sp);
        CHECK(static_cast<uint64_t>(context.uc_mcontext.gregs[REG_EFL]) == (0x202 | kCarry | kAlignmentFlag));
    }
    // Behind `orl` the flags are its own; the program's lie on the stack.
    ucontext_t context = context_at(slot + length + 13, reinterpret_cast<uint64_t>(&image), 0x282);
    leave_slot(&context);
    CHECK(static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]) == address + length);
    CHECK(static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]) == reinterpret_cast<uint64_t>(&image) + 136);
    CHECK(static_cast<uint64_t>(context.uc_mcontext.gregs[REG_EFL]) == (image | kAlignmentFlag));
}

TEST_CASE("other code at an address is another site") {
    CodePage page;
    const uint64_t address = page.add({0x8b, 0x07, 0x90});
    Site* former = site_at(address);
    REQUIRE(former);
    CHECK(site_at(address) == former);
    CHECK(former->width == 4);
    page.bytes()[0] = 0x48; // mov (%rdi), %rax
    page.bytes()[1] = 0x8b;
    page.bytes()[2] = 0x07;
    Site* now = site_at(address);
    REQUIRE(now);
    CHECK(now != former);
    CHECK(now->width == 8);
    CHECK(former->stale);
    CHECK(site_of_id(now->id) == now);
}
#endif
