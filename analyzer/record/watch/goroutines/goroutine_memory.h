// The goroutines of one Go program, read from its memory while it runs: nothing stops, so that a description may be half new.
// What cannot be true is left out.
#pragma once

#include "symbols/go_runtime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::record {

struct WaitingGoroutine {
    uint64_t pc = 0, sp = 0, frame = 0, stack_end = 0; // where it goes on; its frame pointer
    uint8_t reason = 0;
};

struct GoroutineState {
    uint64_t all = 0;       // that the program ever had at the same time; those that ended keep their places
    uint64_t seen = 0;      // of them, those that were read: at most some hundreds
    uint64_t runnable = 0;  // of those that were read: they run, or would on a processor of Go that is free
    uint32_t processors = 0; // GOMAXPROCS
    std::vector<WaitingGoroutine> waiting;

    double scale() const { return static_cast<double>(all) / static_cast<double>(seen); } // those that were read stand for all
};

class GoroutineMemory {
  public:
    // `bias`: what is added to addresses of the file.
    GoroutineMemory(uint32_t pid, const symbols::GoRuntime& runtime, uint64_t bias) : pid_(pid), runtime_(runtime), bias_(bias) {}

    // False: it could not be read. `from`: of those that are more than what one look reads, begin with this one.
    bool read(GoroutineState& state, uint64_t from);

    // The words of Go's runtime for a reason, or empty.
    std::string reason_words(uint8_t reason) const;

  private:
    bool read_pointers(GoroutineState& state, uint64_t from);
    void take(const uint8_t* description, GoroutineState& state) const;

    uint32_t pid_;
    symbols::GoRuntime runtime_;
    uint64_t bias_;
    std::vector<uint64_t> pointers_;     // kept for their room
    std::vector<uint8_t> descriptions_;
};

} // namespace plumb::record
