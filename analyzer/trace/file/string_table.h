// The texts of one file, by id.
#pragma once

#include "trace/file/id_index.h"

#include <plumb/trace_format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plumb::trace {

class StringTable {
  public:
    void add(StringId id, std::string_view text) {
        if (index_.add(id, static_cast<uint32_t>(entries_.size()))) {
            entries_.push_back({texts_.size(), static_cast<uint32_t>(text.size())});
            texts_ += text;
        }
    }

    bool contains(StringId id) const { return index_.find(id) != IdIndex::kNone; }

    // Empty for ids that the file does not define. Valid until the next add.
    std::string_view text(StringId id) const {
        const uint32_t place = index_.find(id);
        if (place == IdIndex::kNone)
            return {};
        return std::string_view(texts_).substr(entries_[place].begin, entries_[place].length);
    }

  private:
    struct Entry {
        size_t begin;
        uint32_t length;
    };
    IdIndex index_;
    std::vector<Entry> entries_;
    std::string texts_;
};

} // namespace plumb::trace
