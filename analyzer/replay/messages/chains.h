// What a rank that waited for another one's message, or for it to receive, really waited for: that one may have waited itself.
#pragma once

#include "model/mpi_job.h"
#include "replay/messages/messages.h"

#include <vector>

namespace plumb::replay {

// A wait taken apart: who was at work while it lasted, the last one first. The parts follow each other without a gap
// from the wait's end back to its begin.
struct Causes {
    struct Part {
        uint32_t row;
        Nanoseconds length;
    };
    std::vector<Part> parts; // at most kMostParts; the last of them holds the rest

    static constexpr size_t kMostParts = 64;
    uint32_t main_row() const; // of the rank with most of it
    // Work done one rank after another: at least two ranks, none of which had most of it to itself.
    bool is_serial() const;
};

struct SiteOfWait {
    uint32_t row, site; // of its process
    auto operator<=>(const SiteOfWait&) const = default;
};

Causes causes_of(const MatchedMessages& messages, const PeerWait& wait);

// The latest wait of `row` that ended in (begin, end]; null: there is none.
const PeerWait* last_wait(const MatchedMessages& messages, uint32_t row, Nanoseconds begin, Nanoseconds end);

// Sums over all waits. `least`: nanoseconds of a turn, see turns.h. `caused`: nanoseconds that others waited, by the row that
// was at work meanwhile (one element for each rank of the job).
model::MpiChains find_chains(const model::Run& run, const Job& job, const MatchedMessages& messages, Nanoseconds least,
                             std::vector<Nanoseconds>& caused);

} // namespace plumb::replay
