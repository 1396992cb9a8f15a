// The latest walk up a thread's stack, with all that each of its steps depended on. The outer frames of a thread mostly stay: a
// later walk that comes to a frame of this one, where the same words lie in the same places, would take the same step again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plumb::unwind {

struct WalkedStep {
    struct Word {
        uint64_t address, value;
    };
    uint64_t pc = 0, sp = 0, bp = 0; // before the step
    bool exact = false;              // pc is an instruction, no return address
    std::array<Word, 3> words{};     // that it loaded from the stack: a step loads at most a pc, an sp and a bp
    uint32_t word_count = 0;
    bool is_repeatable = false;      // it led to a caller, and all its loads lay in the copied part of the stack
};

class WalkedStack {
  public:
    void clear() { steps_.clear(); }
    size_t size() const { return steps_.size(); }
    const WalkedStep& operator[](size_t step) const { return steps_[step]; }
    WalkedStep& add(const WalkedStep& step) { return steps_.emplace_back(step); }
    void swap(WalkedStack& other) { steps_.swap(other.steps_); }

  private:
    std::vector<WalkedStep> steps_; // innermost first; the last one led nowhere
};

} // namespace plumb::unwind
