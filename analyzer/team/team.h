// Several processes that a launcher started to report on one run together (mpirun -n N plumb report RUN): process 0 leads and
// prints, the others help. They talk by the launcher's own MPI.
//
// What must hold: all members go through the same rounds, whatever each of them finds. A member that is killed ends the job,
// as MPI does it.
#pragma once

#include "team/mpi_library.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace plumb::team {

struct Place {
    size_t own = 0, members = 1; // as the launcher's variables number this process
    // Hash of what is read; processes that see different files do not work together. Of one that can read nothing: any.
    uint64_t work = 0;
};

class Team {
  public:
    // All members call it. Null, in all of them: they cannot work together; `why_not` says why.
    static std::unique_ptr<Team> gather(const Place& place, std::string& why_not);

    // Behind the last round. In the middle, by an exception, it ends the job: nobody may wait for a round that never comes.
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    size_t members() const { return static_cast<size_t>(mpi_->size()); }
    size_t own() const { return static_cast<size_t>(mpi_->rank()); }
    bool leads() const { return own() == 0; }

    // Hands this process's part of the next round to the leader, or to all others.
    void give(std::string part, bool to_all);

    // The part of this round of another member.
    std::string take(size_t member);

  private:
    explicit Team(std::unique_ptr<MpiLibrary> mpi);
    void send(const std::string& part, int to);
    void end_round();

    std::unique_ptr<MpiLibrary> mpi_;
    int exceptions_before_;
    std::string given_; // until all have it
    uint64_t given_size_ = 0;
    std::vector<MpiLibrary::Handle> on_their_way_;
};

} // namespace plumb::team
