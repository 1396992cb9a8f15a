// Calls that only give the CPU away, and loops that wait with them: machine code of gcc, clang and glibc.
#include "record/access/code/yield_call.h"
#include "record/access/loops/wait_loop.h"

#include "platform/code/decoder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

using namespace plumb;
using namespace plumb::record;

#if defined(__x86_64__)

namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t kCode = 0x401000, kStub = 0x402000, kPointers = 0x404000, kLibrary = 0x7f0000001000;

Bytes operator+(Bytes left, const Bytes& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

Bytes little_endian(uint64_t value, size_t bytes) {
    Bytes result;
    for (size_t i = 0; i < bytes; ++i)
        result.push_back(static_cast<uint8_t>(value >> 8 * i));
    return result;
}

// `at`: of the instruction, whose opcode is given.
Bytes relative(Bytes opcode, uint64_t at, uint64_t target) {
    const uint64_t distance = target - (at + opcode.size() + 4);
    return opcode + little_endian(distance, 4);
}

const Bytes kYield = {0xb8, 0x18, 0x00, 0x00, 0x00, 0x0f, 0x05, 0x48, 0x3d, 0x01, 0xf0, 0xff, 0xff, 0x73, 0x01, 0xc3,
                      0x48, 0x8b, 0x0d, 0x00, 0x00, 0x00, 0x00, 0xf7, 0xd8, 0x64, 0x89, 0x01, 0x83, 0xc8, 0xff, 0xc3}; // glibc 2.36
const Bytes kYieldOfThreads = {0xb8, 0x18, 0x00, 0x00, 0x00, 0x0f, 0x05, 0xc3};                                       // thrd_yield
const Bytes kGetpid = {0xb8, 0x27, 0x00, 0x00, 0x00, 0x0f, 0x05, 0xc3};

struct Memory {
    std::map<uint64_t, Bytes> pieces;
    ReadMemory reader() const {
        return [this](uint64_t address, uint8_t* to, size_t bytes) -> size_t {
            for (const auto& [start, piece] : pieces)
                if (address >= start && address < start + piece.size()) {
                    const size_t count = std::min(bytes, static_cast<size_t>(start + piece.size() - address));
                    std::copy_n(piece.begin() + static_cast<long>(address - start), count, to);
                    return count;
                }
            return 0;
        };
    }
};

// call *stub*; jmp *pointer of the stub*
Memory through_stub(const Bytes& library, const Bytes& opcode = {0xff, 0x25}) {
    return {{{kCode, relative({0xe8}, kCode, kStub)},
             {kStub, relative(opcode, kStub, kPointers) + Bytes{0x0f, 0x1f, 0x40, 0x00}},
             {kPointers, little_endian(kLibrary, 8)},
             {kLibrary, library}}};
}

bool yields(const Memory& memory) { return call_only_yields(memory.reader(), kCode); }

bool no_decoder() {
    if (shim::load_decoder(nullptr))
        return false;
    WARN("not tested: no decoder here");
    return true;
}

// while (!flag) sched_yield(): the call comes first. `look`: the rest of the loop but for the jump back.
Bytes loop_of(const Bytes& look, uint8_t jump = 0x74) {
    Bytes loop = relative({0xe8}, kCode, kStub) + look;
    loop.push_back(jump);
    loop.push_back(static_cast<uint8_t>(-static_cast<int>(loop.size() + 1)));
    return loop + Bytes{0xc3};
}

std::optional<WaitLoop> loop_in(const Bytes& code, const Memory& memory) {
    const ReadMemory reader = memory.reader();
    return wait_loop_around(CodeRegion::from_boundary(kCode, code), kCode,
                            [&](uint64_t call) { return call_only_yields(reader, call); });
}

} // namespace

TEST_CASE("sched_yield of glibc is known through the stubs of the linkers") {
    if (no_decoder())
        return;
    CHECK(yields(through_stub(kYield)));
    CHECK(yields(through_stub(kYieldOfThreads)));
    CHECK(yields(through_stub(kYield, {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25}))); // endbr64; bnd jmp: of .plt.sec
    CHECK(yields({{{kCode, relative({0xff, 0x15}, kCode, kPointers)},                 // -fno-plt
                   {kPointers, little_endian(kLibrary, 8)},
                   {kLibrary, kYield}}}));
    CHECK(yields({{{kCode, relative({0xe8}, kCode, kStub)}, {kStub, kYield}}})); // linked statically
}

TEST_CASE("wrappers that only yield are followed, others are not") {
    if (no_decoder())
        return;
    Memory memory = through_stub(kYield);
    const uint64_t wrapper = 0x403000;
    memory.pieces[kCode] = relative({0xe8}, kCode, wrapper);
    const Bytes enter = {0x55, 0x48, 0x89, 0xe5}; // push %rbp; mov %rsp,%rbp
    const auto call = [&](size_t before) { return relative({0xe8}, wrapper + before, kStub); };
    memory.pieces[wrapper] = enter + call(4) + Bytes{0x90, 0x5d, 0xc3}; // std::this_thread::yield at -O0
    CHECK(yields(memory));
    memory.pieces[wrapper] = relative({0xe9}, wrapper, kStub); // a tail call
    CHECK(yields(memory));
    memory.pieces[wrapper] = enter + call(4) + relative({0x48, 0xff, 0x05}, wrapper + 9, 0x405000) + Bytes{0x5d, 0xc3}; // counts
    CHECK_FALSE(yields(memory));
    memory.pieces[wrapper] = enter + Bytes{0x85, 0xff, 0x74, 0x05} + call(8) + Bytes{0x5d, 0xc3}; // yields if asked to
    CHECK_FALSE(yields(memory));
    memory.pieces[wrapper] = enter + Bytes{0x5d, 0xc3};
    CHECK_FALSE(yields(memory));
}

TEST_CASE("a call through a register goes where the register says, if functions preserve it and the loop leaves it alone") {
    if (no_decoder())
        return;
    Memory memory = through_stub(kYield);
    shim::Registers registers{};
    registers[14] = kStub;
    const auto yields_by = [&](const Bytes& call, const shim::Registers* known) {
        memory.pieces[kCode] = call;
        return call_only_yields(memory.reader(), kCode, known);
    };
    const Bytes by_r14 = {0x41, 0xff, 0xd6}, by_rax = {0xff, 0xd0};
    CHECK(yields_by(by_r14, &registers)); // Rust's yield_now
    CHECK_FALSE(yields_by(by_r14, nullptr));
    registers[0] = kStub;
    CHECK_FALSE(yields_by(by_rax, &registers));

    const Bytes looks = by_r14 + Bytes{0x8b, 0x03, 0x85, 0xc0, 0x74, 0xf7, 0xc3};              // mov (%rbx),%eax; test; je
    const Bytes changes = by_r14 + Bytes{0x4c, 0x8b, 0x33, 0x4d, 0x85, 0xf6, 0x75, 0xf5, 0xc3}; // mov (%rbx),%r14; test; jne
    for (const Bytes& code : {looks, changes}) {
        memory.pieces[kCode] = code;
        const ReadMemory reader = memory.reader();
        const auto loop = wait_loop_around(CodeRegion::from_boundary(kCode, code), kCode,
                                           [&](uint64_t call) { return call_only_yields(reader, call, &registers); });
        CHECK(loop.has_value() == (code == looks));
    }
}

TEST_CASE("other calls do not count as yields") {
    if (no_decoder())
        return;
    CHECK_FALSE(yields(through_stub(kGetpid)));
    CHECK_FALSE(yields(through_stub(kYield + Bytes{}, {0xff, 0x35}))); // push, not a jump
    Memory unbound = through_stub(kYield);                             // the pointer leads back to the stub, which asks the loader
    unbound.pieces[kPointers] = little_endian(kStub + 6, 8);
    unbound.pieces[kStub] = relative({0xff, 0x25}, kStub, kPointers) + Bytes{0x68, 0x01, 0x00, 0x00, 0x00} +
                            relative({0xe9}, kStub + 11, 0x401f00);
    CHECK_FALSE(yields(unbound));
    unbound.pieces[kPointers].clear();
    CHECK_FALSE(yields(unbound));
}

TEST_CASE("what ends with the system call sched_yield") {
    CHECK(ends_with_yield(kYield.data(), kYieldBytes));
    CHECK_FALSE(ends_with_yield(kGetpid.data(), 7));
    CHECK_FALSE(ends_with_yield(kYield.data(), 6));
}

TEST_CASE("a loop that yields until a variable changes waits for it") {
    if (no_decoder())
        return;
    const Bytes code = loop_of({0x8b, 0x03, 0x85, 0xc0}); // mov (%rbx),%eax; test %eax,%eax
    const auto loop = loop_in(code, through_stub(kYield));
    REQUIRE(loop);
    CHECK(loop->begin == kCode);
    CHECK(loop->yield_return == kCode + 5);
    CHECK(loop->instruction == kCode + 5);
    CHECK_FALSE(loop->pauses);
    CHECK(loop->moved_by(16).yield_return == kCode + 21);
    const WaitLoop moved = loop->moved_by(0 - loop->yield_return).moved_by(loop->yield_return); // by the way of address 0
    CHECK(moved.yields);
    CHECK(moved.yield_return == loop->yield_return);

    CHECK_FALSE(loop_in(code, through_stub(kGetpid)));
    CHECK_FALSE(wait_loop_around(CodeRegion::from_boundary(kCode, code), kCode)); // what it calls is not known
}

TEST_CASE("a hand-made lock that yields stores what it takes") {
    if (no_decoder())
        return;
    const auto loop = loop_in(loop_of({0x89, 0xd8, 0x86, 0x45, 0x00, 0x84, 0xc0}, 0x75), through_stub(kYield)); // xchg %al,(%rbp)
    REQUIRE(loop);
    CHECK(loop->stores);
}

TEST_CASE("a constant that the call did not preserve is loaded again, and is not what the loop waits for") {
    if (no_decoder())
        return;
    const Bytes load = relative({0x66, 0x0f, 0x6f, 0x25}, kCode + 5, 0x405000); // movdqa constant,%xmm4
    const auto loop = loop_in(loop_of(load + Bytes{0x8b, 0x03, 0x85, 0xc0}), through_stub(kYield));
    REQUIRE(loop);
    CHECK(loop->instruction == kCode + 5 + load.size());
    CHECK(loop->width == 4);
}

TEST_CASE("loops that compute between yields do not only wait") {
    if (no_decoder())
        return;
    CHECK_FALSE(loop_in(loop_of({0x01, 0x03, 0x85, 0xc0}), through_stub(kYield)));                  // add %eax,(%rbx)
    CHECK_FALSE(loop_in(loop_of({0x48, 0x8b, 0x5b, 0x08, 0x48, 0x85, 0xdb}), through_stub(kYield))); // follows a list
    CHECK_FALSE(loop_in(loop_of({0xff, 0xcb}, 0x75), through_stub(kYield)));                          // yields so often
}

TEST_CASE("the variable's address by the registers of a sample in the call") {
    if (no_decoder())
        return;
    std::array<uint64_t, kUserRegisterCount> registers{};
    registers[1] = 0x500000; // rbx
    PerfRecord sample;
    sample.registers = registers;
    sample.register_abi = PERF_SAMPLE_REGS_ABI_64;
    const auto by_preserved = loop_in(loop_of({0x8b, 0x43, 0x08, 0x85, 0xc0}), through_stub(kYield)); // mov 8(%rbx),%eax
    REQUIRE(by_preserved);
    CHECK(by_preserved->address_at_call(sample) == 0x500008u);
    const Bytes look = relative({0x8b, 0x05}, kCode + 5, 0x405060) + Bytes{0x85, 0xc0}; // mov flag(%rip),%eax
    const auto by_place = loop_in(loop_of(look), through_stub(kYield));
    REQUIRE(by_place);
    CHECK(by_place->moved_by(0x1000).address_at_call(sample) == 0x406060u);
    const auto by_other = loop_in(loop_of({0x48, 0x8b, 0x04, 0x24, 0x8b, 0x00, 0x85, 0xc0}), through_stub(kYield)); // mov (%rax),%eax
    if (by_other)
        CHECK_FALSE(by_other->address_at_call(sample));
}

#endif
