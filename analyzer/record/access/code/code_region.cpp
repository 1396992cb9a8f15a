#include "record/access/code/code_region.h"

#include "platform/code/a64_instruction.h" // of the shim
#include "record/access/code/a64_code.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

namespace plumb::record {

namespace {

constexpr int kLongestInstruction = 15;
constexpr size_t kMostDecoded = 16384; // kept of one region: an interpreter is one large loop

// 0: does not decode.
unsigned length_at(std::span<const uint8_t> code) {
    return code.empty() ? 0 : shim::instruction_length(code.data(), code.size());
}

} // namespace

Jump jump_at(uint64_t address, std::span<const uint8_t> instruction) {
    if (shim::kDecodesA64)
        return a64::jump_at(address, a64::word_of(instruction));
    size_t at = 0;
    const auto is_prefix = [](uint8_t byte) { // of a branch: hints and bnd
        return byte == 0x2e || byte == 0x3e || byte == 0xf2 || byte == 0xf3;
    };
    while (at < instruction.size() && is_prefix(instruction[at]))
        ++at;
    if (at + 1 >= instruction.size())
        return {};
    const uint8_t opcode = instruction[at], second = instruction[at + 1];
    const bool is_near_condition = opcode == 0x0f && (second & 0xf0) == 0x80;
    if (opcode == 0xe9 || is_near_condition) {
        at += is_near_condition ? 2 : 1;
        int32_t distance;
        if (at + sizeof distance > instruction.size())
            return {};
        std::memcpy(&distance, instruction.data() + at, sizeof distance);
        return {address + at + sizeof distance + static_cast<uint64_t>(int64_t{distance}), is_near_condition};
    }
    const bool is_condition = (opcode & 0xf0) == 0x70 || (opcode >= 0xe0 && opcode <= 0xe3); // the latter: loop, jrcxz
    if (!is_condition && opcode != 0xeb)
        return {};
    return {address + at + 2 + static_cast<uint64_t>(int64_t{static_cast<int8_t>(second)}), is_condition};
}

bool is_call(std::span<const uint8_t> instruction) {
    if (shim::kDecodesA64)
        return a64::is_call(a64::word_of(instruction));
    size_t at = 0;
    while (at + 1 < instruction.size() && ((instruction[at] & 0xf0) == 0x40 || instruction[at] == 0xf2))
        ++at; // REX, bnd
    if (at + 1 >= instruction.size())
        return false;
    return instruction[at] == 0xe8 || (instruction[at] == 0xff && (instruction[at + 1] & 0x38) == 0x10);
}

CodeRegion CodeRegion::from_boundary(uint64_t address, std::vector<uint8_t> code) {
    CodeRegion region(address, std::move(code));
    region.cut_from(0);
    region.find_loops();
    return region;
}

CodeRegion CodeRegion::around(uint64_t address, std::vector<uint8_t> code, uint64_t sure) {
    CodeRegion region(address, std::move(code));
    if (sure < address || sure >= region.end())
        return region;
    const uint32_t goal = static_cast<uint32_t>(sure - address);
    if (shim::kDecodesA64) { // every fourth byte begins an instruction, or data
        constexpr uint32_t kEach = shim::a64::kBytes;
        uint32_t first = goal;
        while (first >= kEach && length_at(std::span<const uint8_t>(region.code_).subspan(first - kEach)))
            first -= kEach;
        region.cut_from(first);
        region.find_loops();
        return region;
    }
    const std::span<const uint8_t> all(region.code_);

    // Each first place votes for the last few boundaries before `goal` that it comes through.
    constexpr size_t kBoundaries = 4;
    struct HashOf {
        size_t operator()(uint32_t value) const { return value * 0x9e3779b1u; }
    };
    std::unordered_map<uint32_t, int, HashOf> votes;
    int voters = 0;
    for (uint32_t first = 0; first < kLongestInstruction && first < goal; ++first) {
        std::array<uint32_t, kBoundaries> last{};
        size_t count = 0;
        uint32_t at = first;
        while (at < goal) {
            const unsigned length = length_at(all.subspan(at));
            last[count++ % kBoundaries] = at;
            at += length ? length : 1; // data between functions
        }
        if (at != goal)
            continue;
        ++voters;
        for (size_t i = 0; i < std::min(count, kBoundaries); ++i)
            ++votes[last[i]];
    }
    for (const auto& [offset, count] : votes)
        if (voters >= kLongestInstruction / 2 && count * 4 >= voters * 3)
            region.offsets_.push_back(offset);
    std::sort(region.offsets_.begin(), region.offsets_.end());
    // They must be neighbours, the last of them just before `goal`.
    uint32_t next = goal;
    size_t kept = region.offsets_.size();
    while (kept > 0 && region.offsets_[kept - 1] + length_at(all.subspan(region.offsets_[kept - 1])) == next)
        next = region.offsets_[--kept];
    region.offsets_.erase(region.offsets_.begin(), region.offsets_.begin() + static_cast<long>(kept));
    region.cut_from(goal);
    region.find_loops();
    return region;
}

void CodeRegion::cut_from(uint32_t offset) {
    const std::span<const uint8_t> all(code_);
    while (offset < all.size()) {
        const unsigned length = length_at(all.subspan(offset));
        if (length == 0)
            break;
        offsets_.push_back(offset);
        offset += length;
    }
}

void CodeRegion::find_loops() {
    for (const uint32_t offset : offsets_) {
        const uint64_t address = start_ + offset;
        const std::span<const uint8_t> rest = bytes_at(address);
        const Jump jump = jump_at(address, rest.first(std::min<size_t>(rest.size(), kLongestInstruction)));
        if (jump.target >= start_ && jump.target < address)
            loops_.push_back({static_cast<uint32_t>(jump.target - start_), offset});
    }
    std::ranges::sort(loops_, [](const LoopOffsets& a, const LoopOffsets& b) { return a.head != b.head ? a.head < b.head : a.jump > b.jump; });
    const auto same_head = [](const LoopOffsets& a, const LoopOffsets& b) { return a.head == b.head; };
    loops_.erase(std::unique(loops_.begin(), loops_.end(), same_head), loops_.end());
}

bool CodeRegion::begins_instruction(uint64_t address) const {
    return address >= start_ && address < end() &&
           std::binary_search(offsets_.begin(), offsets_.end(), static_cast<uint32_t>(address - start_));
}

uint64_t CodeRegion::before(uint64_t address) const {
    if (!begins_instruction(address))
        return 0;
    const uint32_t offset = static_cast<uint32_t>(address - start_);
    if (std::ranges::binary_search(loops_, offset, {}, &LoopOffsets::head))
        return 0;
    const auto place = std::lower_bound(offsets_.begin(), offsets_.end(), offset);
    return place == offsets_.begin() ? 0 : start_ + *std::prev(place);
}

bool CodeRegion::is_in_loop(uint64_t address) const {
    return std::ranges::any_of(
        loops_, [&](const LoopOffsets& loop) { return start_ + loop.head <= address && address <= start_ + loop.jump; });
}

std::vector<CodeRegion::Loop> CodeRegion::loops_around(uint64_t address) const {
    std::vector<Loop> around;
    for (const LoopOffsets& loop : loops_)
        if (start_ + loop.head <= address && address <= start_ + loop.jump)
            around.push_back({start_ + loop.head, start_ + loop.jump});
    std::ranges::stable_sort(around, {}, [](const Loop& loop) { return loop.jump - loop.head; });
    return around;
}

std::span<const uint8_t> CodeRegion::bytes_at(uint64_t address) const {
    if (address < start_ || address >= end())
        return {};
    return std::span<const uint8_t>(code_).subspan(address - start_);
}

bool CodeRegion::decode_at(uint64_t address, shim::MemoryInstruction* instruction) const {
    if (const auto known = decoded_.find(address); known != decoded_.end()) {
        *instruction = known->second;
        return true;
    }
    const std::span<const uint8_t> bytes = bytes_at(address);
    if (bytes.empty() || !shim::decode_memory_instruction(bytes.data(), bytes.size(), instruction))
        return false;
    if (decoded_.size() >= kMostDecoded)
        decoded_.clear();
    decoded_.emplace(address, *instruction);
    return true;
}

size_t CodeRegion::memory() const {
    return code_.capacity() + offsets_.capacity() * sizeof(uint32_t) + loops_.capacity() * sizeof(LoopOffsets) + sizeof *this +
           decoded_.size() * (sizeof(shim::MemoryInstruction) + 32);
}

} // namespace plumb::record
