// Unaligned accesses by the data object they touch: one finding for each variable, common block, structure or
// allocation, with the lines as its places. Accesses to memory without a name are kept apart by line.
#pragma once

#include "analyses/accesses/unaligned_lines.h"
#include "analyses/lines/line_shares.h"
#include "diagnoses/finding.h"

#include <functional>
#include <string>
#include <vector>

namespace plumb {

struct UnalignedObject {
    TouchedData data;                 // of the member that is accessed most
    Misalignment cause;               // of the same
    std::vector<std::string> members; // that are accessed unaligned, the most accessed first
    model::AccessKind kind;           // of the heaviest line
    std::string called_code;          // of the same: where its instructions are, if that is something it calls
    AccessCounts counts;
    bool dealt_out = false;           // a line touches several objects: its counts are shared out by kept addresses
    uint64_t samples = 0, sampled_line_crossings = 0, sampled_page_crossings = 0; // of address sampling
    AccessCost cost;
    const model::ReplayedAccess* replayed = nullptr; // of the heaviest line whose loop was run again; null: of none
    bool priced = false;
    LineShares lines;                 // by cost; by number where there is none
    size_t instructions = 0, threads = 0; // threads: of the line with most

    bool trapped() const { return counts.hits > 0; }
};

// Of the lines that `wanted` takes; by cost, then number.
std::vector<UnalignedObject> unaligned_objects(const UnalignedAccesses& accesses,
                                               const std::function<bool(const AccessLine&)>& wanted);

// Subject, places, counts and causes: what every finding about such an object says. Cost and severity are left to the
// diagnosis.
Finding object_finding(const UnalignedObject& object, const UnalignedAccesses& accesses);

// "4,096 times", "at least 20 times", "about 700 times" where shares are estimated, "4,096 times together with member
// key" where the object's words name one member and the count is of several.
std::string count_words(const UnalignedObject& object);

} // namespace plumb
