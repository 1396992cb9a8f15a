// The ranks of one MPI job, whose files are laid side by side, and the communicators that they share.
#pragma once

#include "model/run.h"
#include "replay/events/clock.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::replay {

// A communicator, whoever of its members was recorded.
struct Communicator {
    uint64_t group_hash = 0;
    uint32_t ordinal = 0, size = 0;
    bool world = false, inter = false;
    model::CommKind kind = model::CommKind::communicator;
    std::string name;
    uint32_t recorded = 0; // members whose files are here
    // Members (rows of Job::ranks) whose times stand for all when a median is taken: all of them where they are few,
    // else kMostSampled that are chosen by a hash of their number, so that no regular pattern of nodes is favoured.
    std::vector<uint32_t> sampled;
    static constexpr uint32_t kMostSampled = 64;
};

// What one rank calls a communicator.
struct Membership {
    static constexpr uint32_t kNoSlot = UINT32_MAX;
    uint32_t id = 0;   // in its file
    uint32_t comm = 0; // index into Job::comms
    int32_t member = -1; // its rank in the communicator
    uint32_t slot = kNoSlot; // its place in Communicator::sampled
};

struct Rank {
    int rank = -1;        // in MPI_COMM_WORLD
    uint32_t process = 0; // index into Run::processes
    uint32_t host = 0;    // index into Run::hosts
    Clock clock;
    std::vector<Membership> comms; // by id
};

struct Job {
    std::string name;
    bool spawned = false;
    int size = 0;
    std::vector<Rank> ranks; // recorded ones, by rank; "row" means an index into it
    std::vector<Communicator> comms;
    uint64_t collective_stride = 1, message_stride = 1; // largest of all ranks

    const Rank* find(int rank) const; // null: not recorded
    uint32_t row_of(const Rank& rank) const { return static_cast<uint32_t>(&rank - ranks.data()); }
};

// By launcher's job, spawned ones apart; a rank number that comes twice begins another job. Processes without a rank
// (they died before MPI_Init returned) belong to none.
std::vector<Job> find_jobs(const model::Run& run);

} // namespace plumb::replay
