// Words for ranks that did not end MPI: where each is, and whom it waits for.
#pragma once

#include "analyses/lines/line_shares.h"
#include "diagnoses/common/sentence.h"
#include "diagnoses/diagnosis.h"
#include "model/mpi_job.h"

#include <string>
#include <vector>

namespace plumb {

// "rank 3", "ranks 3, 5", "ranks 0, 1, 2 and 61 others"
std::string ranks_words(const std::vector<int>& ranks);
std::string awaited_words(const model::MpiAwaited& awaited); // "from rank 1 with tag 5"
std::string signal_words(int signal);                        // "signal 9 (SIGKILL)"
std::string end_words(const model::MpiPendingRank& rank);     // "; killed by signal 9 (SIGKILL) at 1.23 s"; "": nobody saw it
std::string others_words(size_t others);                     // ", 2 others are listed below"

// What is known of one job's ranks. Places are those of MpiPending::ranks.
class PendingWords {
  public:
    static constexpr size_t kMostNamed = 5; // one by one

    PendingWords(const DiagnosisInput& input, const model::MpiJob& job) : input_(input), job_(job) {}

    const model::MpiPendingRank& rank(uint32_t place) const { return job_.pending.ranks[place]; }

    std::string doing(const model::MpiPendingRank& rank) const; // "in MPI_Recv from rank 1 with tag 5 at ring.c:20"
    std::string line(const model::MpiPendingRank& rank) const;  // all that is known of it
    std::string line_of(const std::vector<uint32_t>& places) const; // " at ring.c:20", where most of them are; "": not known

    std::vector<int> numbers(const std::vector<uint32_t>& places) const;
    void add(LineShares& lines, const model::MpiPendingRank& rank, double weight) const;
    double longest_s(const std::vector<uint32_t>& places) const;
    double shortest_s(const std::vector<uint32_t>& places) const; // since when all of them are there

  private:
    std::string place_of(const model::MpiPendingRank& rank) const;
    std::string on_comm(const model::MpiPendingRank& rank) const;

    const DiagnosisInput& input_;
    const model::MpiJob& job_;
};

} // namespace plumb
