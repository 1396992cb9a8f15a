// Several processes that a launcher started to report on one run together (mpirun -n N plumb report RUN): process 0 leads and
// prints, the others help. They talk by files in a private folder of the run directory, which they share even across
// hosts; no MPI is needed.
//
// What must hold: the leader ends with the whole result whatever happens to a helper, because it does itself what a lost
// helper should have done; nobody waits for a process that shows no life; the folder is gone when the last of them ends.
#pragma once

#include "team/life_sign.h"

#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace plumb::team {

struct Place {
    std::string job;       // the launcher's name of the job: the same in all of its processes
    size_t own = 0, members = 1;
    std::string directory; // the run
    uint64_t work = 0;     // hash of what is read: a process that sees other files is of no help
};

// Thrown in a helper: the leader is gone, or does without it. Nothing is left for the helper to do.
class TeamOver {};

class Team {
  public:
    // Null: the place has one member, or the directory cannot be written; there is nobody to work with.
    static std::unique_ptr<Team> lead(const Place& place);

    // Waits for the leader to appear, but not long: the leader does not wait for helpers that come late. Null: no leader
    // appeared, or it reads other files.
    static std::unique_ptr<Team> join(const Place& place);

    ~Team(); // the leader's takes the folder away
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    size_t members() const { return place_.members; }
    size_t own() const { return place_.own; }
    bool leads() const { return place_.own == 0; }

    // Hands this process's part of the next round to the others. All members go through the same rounds.
    void give(const std::string& part);

    // The part of this round of another member; nothing when it is lost. Throws TeamOver in a helper.
    std::optional<std::string> take(size_t member);

  private:
    Team(const Place& place, std::string folder);
    std::string sign_path(size_t member) const;
    std::string part_path(size_t member) const;
    void start_beating();
    void beat(const sigset_t& signals);
    bool is_decided(size_t member) const;
    void tell_latecomers() const;
    void dissolve();

    Place place_;
    std::string folder_;
    uint64_t round_ = 0;
    bool alone_ = false; // the leader has given up on the others
    std::vector<LifeWatch> watches_;
    std::vector<bool> lost_;
    std::thread beating_;
    sigset_t mask_before_ = {}; // of the thread that made the team
};

} // namespace plumb::team
