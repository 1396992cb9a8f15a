// A bulk-synchronous MPI program that never ran: ranks compute, exchange halos with two neighbours, and meet in a
// collective of all, over and over. When each of them did what follows from a seed, so that every rank's file can be
// written alone and the waiting that a report must find is known.
//
// Times: seconds since the first one left MPI_Init. All ranks leave a collective together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::tools {

// Something that takes the CPU away: <frequency, length, distribution, placement>.
struct NoiseClass {
    double period_s = 0, length_s = 0;
    bool exponential = false; // lengths are distributed so, length_s being their mean; else all equal
    // Nodes it is found on: number % of_nodes == node. It takes one CPU of the node, by turns; with `rank` >= 0 that of
    // this rank of the job alone.
    int node = 0, of_nodes = 1, rank = -1;
};

struct LateRank {
    int rank = 0;
    double extra = 0; // of the compute time
};

struct MpiPattern {
    int ranks = 64, ranks_per_node = 4;
    int block = 0; // consecutive ranks on a node, which the nodes get by turns; 0: all that it has
    uint64_t collectives = 1'000;
    double compute_s = 1e-3, jitter = 0; // compute time, and by how much of it a rank differs at most, each time
    double operation_s = 20e-6;          // of the collective, once all have arrived
    uint64_t halo_bytes = 0;             // 0: no exchange
    double send_s = 1e-6, latency_s = 2e-6, bytes_per_s = 1e10;
    int node_step = 1;             // node i is called as the i * node_step-th one
    double within_latency_s = -1;        // of messages within a node; below 0: as of the others
    std::string matrix;                  // MpiMatrix's, of messages that are known by their counts alone; empty: none
    uint64_t matrix_bytes = 1'000'000, shuffle = 0; // to each partner; the seed of its cells
    std::vector<LateRank> late;
    std::vector<NoiseClass> noise;
    uint64_t seed = 1;

    int nodes() const { return (ranks + ranks_per_node - 1) / ranks_per_node; }
    int node_of(int rank) const { return block > 0 ? rank / block % nodes() : rank / ranks_per_node; }
    int place_on_node(int rank) const { return block > 0 ? rank / block / nodes() * block + rank % block : rank % ranks_per_node; }
};

// One rank between two collectives.
struct Halo {
    double send_s[2], send_end_s[2];       // to the left, to the right
    double receive_s[2], receive_end_s[2]; // from the left, from the right
};
struct Cycle {
    double begin_s = 0, ready_s = 0; // left the last collective; computed
    Halo halo = {};                  // of patterns that have one
    double arrival_s = 0, end_s = 0; // of the collective
};

// What a report must say, rank-seconds.
struct MpiTruth {
    double elapsed_s = 0;
    double wait_s = 0, operation_s = 0; // in collectives
    double late_sender_s = 0;
    double imbalance_s = 0; // sum of last - mean arrival
    std::vector<uint64_t> times_last; // by rank
};

class MpiTimes {
  public:
    explicit MpiTimes(MpiPattern pattern); // ranks x collectives steps; throws plumb::Error for an impossible pattern

    const MpiPattern& pattern() const { return pattern_; }
    const MpiTruth& truth() const { return truth_; }
    double elapsed_s() const { return truth_.elapsed_s; }

    Cycle cycle(int rank, uint64_t collective) const;

    int left_of(int rank) const { return (rank + pattern_.ranks - 1) % pattern_.ranks; }
    int right_of(int rank) const { return (rank + 1) % pattern_.ranks; }

  private:
    double ready_s(int rank, uint64_t collective, double begin_s) const;
    double noise_s(const NoiseClass& noise, size_t which, int rank, double begin_s, double compute_s) const;
    double begin_s(uint64_t collective) const { return collective == 0 ? 0 : ends_s_[collective - 1]; }
    void exchange(Cycle& cycle, int rank, double left_ready_s, double right_ready_s) const;
    double transfer_s(int rank, int peer) const;

    MpiPattern pattern_;
    MpiTruth truth_;
    std::vector<double> ends_s_; // by collective
    std::vector<double> extra_;  // by rank
};

} // namespace plumb::tools
