#include "record/align/code/flag_code.h"

#include "platform/code/memory_instruction.h"

#include <string.h>

#include <emmintrin.h>

namespace plumb::shim {

namespace {

constexpr uint8_t kPushFlags = 0x9c, kPopFlags = 0x9d;
constexpr uint32_t kAlignmentBit = 18, kCpuidBit = 21;
constexpr int64_t kAround = 64;             // bytes in which the purpose is looked for
// Decoding from any place falls into step with the program's instructions within a few of them, usually.
constexpr uint32_t kStarts = 16, kAgreeing = 12;
constexpr int64_t kNearestStart = 130, kStartsApart = 6;
constexpr int64_t kCleanBefore = 96, kCleanBehind = 48; // bytes of code of the usual kind
constexpr uint32_t kCandidatesMax = 1024;   // some ten milliseconds

struct Code {
    const uint8_t *begin, *end;
    int at(const uint8_t* place) const { return place >= begin && place < end ? *place : -1; }
    bool has(const uint8_t* place, const void* bytes, size_t count) const {
        return place >= begin && place + count <= end && memcmp(place, bytes, count) == 0;
    }
};

// The flags and the instruction beside them, both of which must be instructions.
struct Pair {
    const uint8_t *first, *second; // null: none
};

bool is_one_of(int byte, int low, int high) { return byte >= low && byte <= high; }

// An operation of the form `81 /n` or `f7 /0` or `8b` on the word at the stack pointer.
bool reads_top_of_stack(const Code& code, const uint8_t* place) {
    if (is_one_of(code.at(place), 0x48, 0x4f))
        ++place;
    const int operation = code.at(place), operand = code.at(place + 1);
    return (operation == 0x81 || operation == 0xf7 || operation == 0x8b) && operand >= 0 && (operand & 0xc7) == 0x04 &&
           code.at(place + 2) == 0x24;
}

Pair behind_push_flags(const Code& code, const uint8_t* flags) {
    const uint8_t* next = flags + 1;
    const bool extended = code.at(next) == 0x41;
    const bool pops = is_one_of(code.at(next + extended), 0x58, 0x5f) || code.at(next) == 0x8f;
    if (!pops && !reads_top_of_stack(code, next))
        return {};
    return {flags, next};
}

Pair before_pop_flags(const Code& code, const uint8_t* flags) {
    if (is_one_of(code.at(flags - 1), 0x50, 0x57)) // push of a register
        return {code.at(flags - 2) == 0x41 ? flags - 2 : flags - 1, flags};
    const auto pushes_memory = [&](int64_t length, int mode) {
        const int operand = code.at(flags - length + 1);
        return code.at(flags - length) == 0xff && operand >= 0 && (operand & 0x38) == 0x30 && operand >> 6 == mode;
    };
    if (pushes_memory(2, 0))
        return {flags - 2, flags};
    if (pushes_memory(3, 1))
        return {flags - 3, flags};
    if (pushes_memory(6, 2))
        return {flags - 6, flags};
    if (reads_top_of_stack(code, flags - 7)) // or, and, xor with 32 bits
        return {is_one_of(code.at(flags - 8), 0x48, 0x4f) ? flags - 8 : flags - 7, flags};
    const uint8_t bit[] = {static_cast<uint8_t>(kAlignmentBit)};
    if (code.at(flags - 5) == 0x0f && code.at(flags - 4) == 0xba && code.has(flags - 1, bit, 1)) // bts, btr, btc
        return {is_one_of(code.at(flags - 6), 0x48, 0x4f) ? flags - 6 : flags - 5, flags};
    if (code.at(flags - 5) == 0x68 && (code.at(flags - 2) >> (kAlignmentBit - 16) & 1)) // push of a constant
        return {flags - 5, flags};
    return {};
}

// Whether a flag's bit is named in the neighbourhood, as a mask, its complement or a number.
bool names_bit(const Code& code, const uint8_t* place, uint32_t bit) {
    const uint32_t mask = 1u << bit, rest = ~mask;
    for (const uint8_t* at = place - kAround; at <= place + kAround; ++at)
        if (code.has(at, &mask, sizeof mask) || code.has(at, &rest, sizeof rest) ||
            (code.at(at) == 0x0f && code.at(at + 1) == 0xba && code.at(at + 3) == static_cast<int>(bit)))
            return true;
    return false;
}

// What compilers never generate, but data taken for code is full of: port and string input and output, far calls and
// returns, interrupts, loop, what x86-64 has given up, and zeros.
bool is_unusual(const uint8_t* instruction) {
    while ((*instruction & 0xf0) == 0x40 || *instruction == 0x66 || *instruction == 0xf2 || *instruction == 0xf3)
        ++instruction;
    const uint8_t code = *instruction;
    return code == 0 || is_one_of(code, 0x6c, 0x6f) || code == 0x9b || code == 0xc8 || code == 0xca || code == 0xcb || code == 0xcd || code == 0xcf ||
           code == 0xd7 || is_one_of(code, 0xe0, 0xe7) || is_one_of(code, 0xec, 0xef) || code == 0xf1 || code == 0xf5 ||
           is_one_of(code, 0xf8, 0xfb);
}

// Functions that round or divide put the state of the old floating point unit where the flags are, without this one.
bool stores_state_of_x87(const Code& code, const uint8_t* place) {
    constexpr uint8_t to_ax[] = {0xdf, 0xe0};
    for (const uint8_t* at = place - kAround; at < place; ++at)
        if (code.has(at, to_ax, sizeof to_ax))
            return true;
    return false;
}

bool is_for_another_purpose(const Code& code, const uint8_t* place) {
    return !names_bit(code, place, kAlignmentBit) &&
        (names_bit(code, place, kCpuidBit) || stores_state_of_x87(code, place));
}

// Its length; 0: not an instruction, or not a usual one.
uint8_t usual_length(const Code& code, const uint8_t* at) {
    const unsigned length = instruction_length(at, static_cast<size_t>(code.end - at));
    return length == 0 || is_unusual(at) ? 0 : static_cast<uint8_t>(length);
}

// Whether decoding from `start` comes by both instructions, after nothing but usual ones for a while.
bool leads_to(const Code& code, const uint8_t* start, const Pair& pair) {
    const uint8_t* clean_from = start;
    bool met_first = false;
    while (start < pair.second) {
        met_first |= start == pair.first;
        const uint8_t length = usual_length(code, start);
        start += length ? length : 1;
        if (!length)
            clean_from = start;
    }
    return met_first && start == pair.second && (pair.first - clean_from >= kCleanBefore || clean_from == code.begin);
}

bool is_followed_by_code(const Code& code, const Pair& pair) {
    for (const uint8_t* at = pair.second; at < code.end && at - pair.second < kCleanBehind;) {
        const uint8_t length = usual_length(code, at);
        if (!length)
            return false;
        at += length;
    }
    return true;
}

bool are_instructions(const Code& code, const Pair& pair) {
    if (!is_followed_by_code(code, pair))
        return false;
    uint32_t agreeing = 0;
    for (uint32_t i = 0; i < kStarts; ++i) {
        const int64_t before = kNearestStart + i * kStartsApart, there_is = pair.first - code.begin;
        agreeing += leads_to(code, pair.first - (before < there_is ? before : there_is), pair);
        if (i + 1 - agreeing > kStarts - kAgreeing)
            return false;
    }
    return true;
}

// Calls `take` with each byte that could push or pop the flags, in order, until it returns true; null: it never did.
// Most bytes are not: 16 are looked at together.
template <typename Take> const uint8_t* first_of_flag_bytes(const Code& code, Take take) {
    static_assert((kPushFlags | 1) == kPopFlags);
    const __m128i wanted = _mm_set1_epi8(static_cast<char>(kPopFlags)), lowest = _mm_set1_epi8(1);
    const uint8_t* at = code.begin;
    for (; code.end - at >= 16; at += 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
        auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_or_si128(bytes, lowest), wanted)));
        for (; found; found &= found - 1)
            if (const uint8_t* flags = at + __builtin_ctz(found); take(flags))
                return flags;
    }
    for (; at < code.end; ++at)
        if ((*at | 1) == kPopFlags && take(at))
            return at;
    return nullptr;
}

} // namespace

uint64_t find_flag_code(uint64_t start, uint64_t end) {
    const Code code = {reinterpret_cast<const uint8_t*>(start), reinterpret_cast<const uint8_t*>(end)};
    uint32_t candidates = 0;
    const uint8_t* found = first_of_flag_bytes(code, [&](const uint8_t* at) {
        const Pair pair = *at == kPushFlags ? behind_push_flags(code, at) : before_pop_flags(code, at);
        return pair.first && !is_for_another_purpose(code, at) && ++candidates <= kCandidatesMax &&
            are_instructions(code, pair);
    });
    return reinterpret_cast<uint64_t>(found);
}

} // namespace plumb::shim
