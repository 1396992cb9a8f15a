// Where the rounds of a packed loop access memory: as the loop's own do, but for the work of several rounds at once. Not
// thread-safe.
#pragma once

#include "record/access/loops/replayable_loop.h"

#include <map>
#include <set>
#include <vector>

namespace plumb::record {

// Whether a round loads what was stored in one of the `rounds` - 1 before it: then so many cannot be computed at once.
bool passes_on_in_memory(const std::vector<LoopAccess>& loop, unsigned rounds);

class PackedAccesses {
  public:
    // `lanes`: elements at once. `copies`: of each round in a row. `parts`: how often a round of the loop does the same thing, as
    // compilers unroll loops. The loop's accesses must outlive this.
    PackedAccesses(const std::vector<LoopAccess>& loop, unsigned lanes, unsigned copies, unsigned parts);

    void begin_copy(unsigned copy) { copy_ = copy; }

    // Each adds a copy of the loop's access of this number, and returns its number among the packed ones.
    int once(int number);                             // made once for all lanes
    int of_width(int number, unsigned bytes);         // of so many bytes, all lanes together
    int of_elements(int number, unsigned bytes_each); // -1: it stores to one place in every round

    const LoopAccess& operator[](int number) const { return made_[static_cast<size_t>(number)]; }
    bool made_adjacent() const { return made_adjacent_; } // some elements lie apart in the loop, and side by side here
    std::vector<LoopAccess> take() { return std::move(made_); }

  private:
    int add(size_t index, unsigned width, bool spreads);

    const std::vector<LoopAccess>& loop_;
    const std::vector<uint64_t> group_begin_; // by access: where those begin that its round accesses side by side
    const std::set<size_t> adjacent_;
    const unsigned lanes_, copies_;
    unsigned copy_ = 0;
    bool made_adjacent_ = false;
    std::map<uint64_t, uint64_t> arrays_; // by address: number
    std::vector<LoopAccess> made_;
};

} // namespace plumb::record
