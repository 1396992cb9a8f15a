// Collectives of a job, one row for each (communicator, sequence): who arrived when.
//
// Ranks are taken in any order and by any number of tables, which are then merged: the result is the same, because rows
// keep least and greatest values, sums modulo 2^64, and samples of members with fixed places. When there are more rows
// than memory is meant for, the stride doubles: only sequences that are its multiples stay.
#pragma once

#include "replay/events/events.h"
#include "replay/collectives/late_levels.h"
#include "replay/events/medians.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace plumb::replay {

struct Arrival {
    Nanoseconds begin = INT64_MIN; // INT64_MIN: nobody
    uint32_t row = UINT32_MAX;     // of Job::ranks
    int32_t member = -1;           // rank in the communicator

    bool later_than(const Arrival& other) const {
        return begin != other.begin ? begin > other.begin : row < other.row;
    }
};

struct Epoch {
    uint32_t comm = 0;
    uint32_t kind = 0; // of all its calls, which should be one; after finish() without kMpiSynchronising where nobody waited
    uint64_t sequence = 0;
    uint32_t arrivals = 0;
    uint32_t site_row = UINT32_MAX, site = 0; // call site of the lowest row in it: index into its MpiProcess::sites
    Arrival last, second, root;
    Nanoseconds first = INT64_MAX, end = INT64_MIN; // first arrival, last end
    Nanoseconds first_end = INT64_MAX;
    uint64_t sum_begin = 0; // modulo 2^64
    // Set by finish(), of the sampled members without the awaited one; compute and MPI time since their last collective.
    // Compute: of those only that are not late together.
    Nanoseconds median_begin = 0, median_compute = 0, median_mpi = 0;
    MedianOfOthers<Nanoseconds> others_compute; // of all of these
    bool complete = false; // all recorded members were found in it, and there were at least two

    // Sum over the members of what they arrived before `moment`.
    int64_t ahead_of(Nanoseconds moment) const {
        return static_cast<int64_t>(static_cast<uint64_t>(moment) * arrivals - sum_begin);
    }
    // Whom others waited for, by the kind of the operation; nobody: row UINT32_MAX.
    Arrival awaited() const;
    bool is_neighbour() const { return (kind & trace::kMpiNeighbour) != 0; }
};

class EpochTable {
  public:
    struct Limits {
        size_t rows = 1 << 19, samples = 1 << 23;
    };
    explicit EpochTable(const Job& job) : EpochTable(job, Limits()) {}
    EpochTable(const Job& job, Limits limits);

    void take(uint32_t row, const Collective& event);
    void merge(const EpochTable& other); // of the same job

    // Before finish(): what merge() of another process's table needs of it (team/packing.h).
    template <class Carrier> void carry(Carrier& carrier) { carrier(stride_, epochs_, first_sample_, samples_); }
    bool fits(const Job& job) const; // what was carried here is possible
    // Sorts by communicator and sequence, finds medians and forgets the samples. What computing is usual say those that are not `late`.
    void finish(const LateLevels& late = {});

    const std::vector<Epoch>& epochs() const { return epochs_; }
    uint64_t stride() const { return stride_; }

    // After finish(). `hint`: index of the epoch found last, for streams that follow the order. Null: not in the table.
    const Epoch* find(uint32_t comm, uint64_t sequence, size_t& hint) const;

  private:
    struct Sample {
        Nanoseconds begin = INT64_MIN, compute = 0, mpi = 0;
    };
    struct Key {
        uint64_t sequence;
        uint32_t comm;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        size_t operator()(const Key& key) const;
    };
    uint32_t place(uint32_t comm, uint64_t sequence);
    void thin();
    void find_medians(uint32_t place, const LateLevels& late);

    const Job* job_;
    Limits limits_;
    uint64_t stride_;
    std::vector<Epoch> epochs_;
    std::vector<size_t> first_sample_; // of each epoch
    std::vector<Sample> samples_;
    std::unordered_map<Key, uint32_t, KeyHash> places_;
    uint32_t last_place_ = 0;
};

} // namespace plumb::replay
