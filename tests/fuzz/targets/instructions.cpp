#include "feed.h"
#include "target.h"

#include "platform/code/memory_instruction.h" // of the shim
#include "record/access/code/access_rule.h"
#include "record/access/code/code_region.h"
#include "record/access/code/register_step.h"
#include "record/access/loops/loop_path.h"

namespace plumb::fuzz {

namespace {

constexpr uint64_t kAddress = 0x401000;

void decode_one(Bytes code) {
    shim::MemoryInstruction instruction{};
    const unsigned length = shim::instruction_length(code.data(), code.size());
    require(length <= 15 && length <= code.size());
    if (!shim::decode_memory_instruction(code.data(), code.size(), &instruction))
        return;
    require(instruction.length <= code.size() && instruction.operand_count <= std::size(instruction.operands));
    for (int i = 0; i < instruction.operand_count; ++i) {
        const shim::MemoryOperand& operand = instruction.operands[i];
        require(operand.base < shim::kRegisterCount && operand.index < shim::kRegisterCount);
    }
    record::register_step(code.first(instruction.length));
}

} // namespace

// Code, and where in it a sample landed.
void run_instructions(Bytes input) {
    static const bool has_decoder = shim::load_decoder(nullptr);
    if (!has_decoder || input.empty())
        return;
    const Bytes code = input.subspan(1).first(std::min<size_t>(input.size() - 1, 512));
    decode_one(code);
    if (code.empty())
        return;
    const uint64_t sampled = kAddress + input[0] % code.size();
    const std::vector<uint8_t> copy(code.begin(), code.end());
    for (const record::CodeRegion& region :
         {record::CodeRegion::from_boundary(kAddress, copy), record::CodeRegion::around(kAddress, copy, sampled)}) {
        require(region.start() >= kAddress && region.end() <= kAddress + code.size());
        const record::AccessPlan plan = record::plan_access(region, sampled);
        if (plan.kind == record::AccessPlan::Kind::none)
            continue;
        shim::Registers registers;
        for (int i = 0; i < shim::kRegisterCount; ++i)
            registers[i] = 0x7000 + 0x100 * static_cast<uint64_t>(i);
        plan.address(sampled, registers);
        if (const auto loop = record::LoopPath::follow(region, sampled, plan))
            loop->move(registers);
    }
}

Seeds seeds_of_instructions() {
    const auto code = [](std::initializer_list<uint8_t> bytes, uint8_t sampled) {
        std::string text(1, static_cast<char>(sampled));
        text.append(bytes.begin(), bytes.end());
        return text;
    };
    return {
        // movsd (%rdi),%xmm0; addsd %xmm0,%xmm1; add $8,%rdi; cmp %rsi,%rdi; jne; ret
        {"walk", code({0xf2, 0x0f, 0x10, 0x07, 0xf2, 0x0f, 0x58, 0xc8, 0x48, 0x83, 0xc7, 0x08, 0x48, 0x39, 0xf7, 0x75, 0xef, 0xc3}, 4)},
        // mov (%rax),%rax; test %rax,%rax; jne; ret
        {"chase", code({0x48, 0x8b, 0x00, 0x48, 0x85, 0xc0, 0x75, 0xf8, 0xc3}, 3)},
        // lock incl (%rdx); rep movsb; vmovups (%rcx),%ymm0; vgatherdps; mov %fs:0,%rax; push; call
        {"kinds", code({0xf0, 0xff, 0x02, 0xf3, 0xa4, 0xc5, 0xfc, 0x10, 0x01, 0xc4, 0xe2, 0x7d, 0x92, 0x04, 0x8b, 0x64, 0x48, 0x8b,
                        0x04, 0x25, 0, 0, 0, 0, 0x50, 0xe8, 0, 0, 0, 0}, 3)},
    };
}

} // namespace plumb::fuzz
