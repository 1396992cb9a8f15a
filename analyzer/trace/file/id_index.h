// Where the thing with a given id of a file is kept. Writers hand out ids in sequence, so an array does; ids far
// beyond their number (damaged or hostile files) go to a hash table instead of costing memory.
#pragma once

#include "trace/file/mixed_hash.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace plumb::trace {

class IdIndex {
  public:
    static constexpr uint32_t kNone = UINT32_MAX;

    // False when the id is 0 or taken: the first one counts.
    bool add(uint32_t id, uint32_t place) {
        if (id == 0 || find(id) != kNone)
            return false;
        ++count_;
        if (id >= 2 * count_ + kSlack)
            return sparse_.emplace(id, place).second;
        if (id >= dense_.size())
            dense_.resize(id + id / 2 + 64, kNone);
        dense_[id] = place;
        return true;
    }

    uint32_t find(uint32_t id) const {
        if (id < dense_.size() && dense_[id] != kNone)
            return dense_[id];
        if (sparse_.empty())
            return kNone;
        const auto found = sparse_.find(id);
        return found == sparse_.end() ? kNone : found->second;
    }

  private:
    static constexpr uint64_t kSlack = 1 << 16;
    uint64_t count_ = 0;
    std::vector<uint32_t> dense_;
    std::unordered_map<uint32_t, uint32_t, MixedHash> sparse_;
};

} // namespace plumb::trace
