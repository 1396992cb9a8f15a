// Descriptions of goroutines read from memory: this process's own, laid out like that of a Go program.
#include "record/watch/goroutines/goroutine_memory.h"

#include <array>
#include <catch2/catch.hpp>
#include <unistd.h>
#include <vector>

using namespace plumb::record;

namespace {

constexpr uint32_t kRunnable = 1, kRunning = 2, kSyscall = 3, kWaiting = 4, kDead = 6, kScanned = 0x1000;

struct Description { // struct g, as far as it is read
    uint64_t stack_begin = 0, stack_end = 0x2000, sp = 0x1000, pc = 0x400100, frame = 0x1040;
    uint32_t status = kWaiting;
    uint8_t reason = 0;
};

struct Text {
    const char* bytes;
    uint64_t length;
};

class GoProgram {
  public:
    explicit GoProgram(std::vector<Description> descriptions) : descriptions_(std::move(descriptions)) {
        for (const Description& description : descriptions_)
            pointers_.push_back(&description);
        array_ = pointers_.data();
        count_ = pointers_.size();
    }

    GoroutineMemory memory() const {
        plumb::symbols::GoRuntime runtime;
        runtime.goroutines = address_of(array_) - kBias;
        runtime.goroutine_count = address_of(count_) - kBias;
        runtime.processor_count = address_of(processors_) - kBias;
        runtime.reasons = address_of(reasons_) - kBias;
        runtime.reason_count = reasons_.size();
        runtime.stack_end = offsetof(Description, stack_end);
        runtime.sp = offsetof(Description, sp);
        runtime.pc = offsetof(Description, pc);
        runtime.frame = offsetof(Description, frame);
        runtime.status = offsetof(Description, status);
        runtime.reason = offsetof(Description, reason);
        return {static_cast<uint32_t>(getpid()), runtime, kBias};
    }

    void lose_pointers() { array_ = nullptr; }
    void point_to_nothing(size_t index) { pointers_[index] = nullptr; }

  private:
    static constexpr uint64_t kBias = 0x1000;
    template <class Value> static uint64_t address_of(const Value& value) { return reinterpret_cast<uint64_t>(&value); }

    std::vector<Description> descriptions_;
    std::vector<const Description*> pointers_;
    const Description* const* array_;
    uint64_t count_;
    int32_t processors_ = 8;
    std::array<Text, 2> reasons_{{{"chan send", 9}, {"sync.Mutex.Lock", 15}}};
};

} // namespace

TEST_CASE("goroutines are counted by what they do") {
    const GoProgram program({{.status = kRunning}, {.status = kRunnable}, {.status = kSyscall}, {.status = kDead},
                             {.status = kWaiting | kScanned, .reason = 1}, {.status = kRunning | kScanned}});
    GoroutineMemory memory = program.memory();
    GoroutineState state;
    REQUIRE(memory.read(state, 0));
    CHECK(state.all == 6);
    CHECK(state.seen == 6);
    CHECK(state.runnable == 3);
    CHECK(state.processors == 8);
    REQUIRE(state.waiting.size() == 1);
    CHECK(state.waiting[0].pc == 0x400100);
    CHECK(state.waiting[0].frame == 0x1040);
    CHECK(memory.reason_words(state.waiting[0].reason) == "sync.Mutex.Lock");
    CHECK(memory.reason_words(2).empty());
}

TEST_CASE("of very many goroutines some stand for all, whichever they are") {
    const GoProgram program(std::vector<Description>(2000));
    GoroutineMemory memory = program.memory();
    for (const uint64_t from : {uint64_t{0}, uint64_t{1487}, UINT64_MAX}) {
        GoroutineState state;
        REQUIRE(memory.read(state, from));
        CHECK(state.all == 2000);
        CHECK(state.seen == 512);
        CHECK(state.waiting.size() == 512);
        CHECK(state.scale() == Approx(2000.0 / 512));
    }
}

TEST_CASE("what cannot be read, or cannot be true, is left out") {
    GoProgram program({{}, {.sp = 0x3000}, {}, {}});
    GoroutineMemory memory = program.memory();
    GoroutineState state;
    program.point_to_nothing(3);
    REQUIRE(memory.read(state, 0));
    CHECK(state.seen == 3);
    CHECK(state.waiting.size() == 2); // the stack of one would begin above its end
    program.lose_pointers();
    CHECK_FALSE(memory.read(state, 0));
}
