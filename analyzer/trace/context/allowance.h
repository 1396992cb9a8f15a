// Bounds what a hostile trace can make the analyzer keep. Most records cost memory in proportion to their own size;
// a few let many small records repeat one large thing (a name, a list of CPUs, a stack). Those draw on one allowance
// that grows with the size of the run.
#pragma once

#include <cstdint>

namespace plumb::trace {

class Allowance {
  public:
    explicit Allowance(uint64_t bytes) : left_(bytes) {}

    // False, and nothing taken, when not enough is left: the caller leaves the thing out.
    bool take(uint64_t bytes) {
        if (bytes > left_) {
            exhausted_ = true;
            return false;
        }
        left_ -= bytes;
        return true;
    }

    bool exhausted() const { return exhausted_; }

  private:
    uint64_t left_;
    bool exhausted_ = false;
};

} // namespace plumb::trace
