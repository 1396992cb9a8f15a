#include "record/watch/goroutines/goroutine_memory.h"

#include "platform/process_memory.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace plumb::record {

namespace {

constexpr uint64_t kMostRead = 512, kPiecesEach = 8; // goroutines of one look; of one system call
constexpr uint64_t kLongestReason = 64;

// src/runtime/runtime2.go. A garbage collector that reads the goroutine's stack adds a bit.
constexpr uint32_t kRunnable = 1, kRunning = 2, kWaiting = 4, kScanned = 0x1000;

template <class Value> Value value_at(const uint8_t* description, uint32_t offset) {
    Value value;
    std::memcpy(&value, description + offset, sizeof value);
    return value;
}

bool read_value(uint32_t pid, uint64_t address, void* to, size_t bytes) {
    const platform::MemoryPiece piece{address, to, bytes};
    return platform::read_process_memory(pid, {&piece, 1}) == bytes;
}

} // namespace

bool GoroutineMemory::read_pointers(GoroutineState& state, uint64_t from) {
    uint64_t array = 0;
    const std::array<platform::MemoryPiece, 3> heads{{{runtime_.goroutines + bias_, &array, sizeof array},
                                                      {runtime_.goroutine_count + bias_, &state.all, sizeof state.all},
                                                      {runtime_.processor_count + bias_, &state.processors, sizeof state.processors}}};
    const size_t head_bytes = sizeof array + sizeof state.all + sizeof state.processors;
    if (platform::read_process_memory(pid_, heads) != head_bytes || array == 0 || state.all == 0)
        return false;
    const uint64_t count = std::min(state.all, kMostRead), first = state.all > count ? from % (state.all - count + 1) : 0;
    pointers_.resize(count);
    return read_value(pid_, array + first * sizeof(uint64_t), pointers_.data(), count * sizeof(uint64_t));
}

bool GoroutineMemory::read(GoroutineState& state, uint64_t from) {
    state = {};
    if (!read_pointers(state, from))
        return false;
    const size_t bytes = 8 + std::max({runtime_.stack_end, runtime_.sp, runtime_.pc, runtime_.frame, runtime_.status, runtime_.reason});
    descriptions_.resize(kPiecesEach * bytes);
    for (size_t begin = 0; begin < pointers_.size(); begin += kPiecesEach) {
        const size_t count = std::min<size_t>(kPiecesEach, pointers_.size() - begin);
        std::array<platform::MemoryPiece, kPiecesEach> pieces;
        for (size_t i = 0; i < count; ++i)
            pieces[i] = {pointers_[begin + i], descriptions_.data() + i * bytes, bytes};
        const size_t whole = platform::read_process_memory(pid_, {pieces.data(), count}) / bytes;
        state.seen += whole;
        for (size_t i = 0; i < whole; ++i)
            take(descriptions_.data() + i * bytes, state);
    }
    return state.seen > 0;
}

void GoroutineMemory::take(const uint8_t* description, GoroutineState& state) const {
    const uint32_t status = value_at<uint32_t>(description, runtime_.status) & ~kScanned;
    if (status == kRunnable || status == kRunning)
        ++state.runnable;
    if (status != kWaiting)
        return;
    const auto word = [&](uint32_t offset) { return value_at<uint64_t>(description, offset); };
    const WaitingGoroutine waiting{word(runtime_.pc), word(runtime_.sp), word(runtime_.frame), word(runtime_.stack_end),
                                   description[runtime_.reason]};
    if (waiting.sp < waiting.stack_end)
        state.waiting.push_back(waiting);
}

std::string GoroutineMemory::reason_words(uint8_t reason) const {
    std::array<uint64_t, 2> text{}; // pointer and length
    if (reason >= runtime_.reason_count || !read_value(pid_, runtime_.reasons + bias_ + reason * sizeof text, text.data(), sizeof text))
        return {};
    std::string words(std::min(text[1], kLongestReason), '\0');
    return read_value(pid_, text[0], words.data(), words.size()) ? words : std::string();
}

} // namespace plumb::record
