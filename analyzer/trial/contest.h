// Runs the base and cures in rounds: one run of each of these.
#pragma once

#include "statistics/spread.h"
#include "trial/cure.h"
#include "trial/judge.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace plumb::trial {

struct Contestant {
    std::string id; // also the name of the files that it writes into
    Launch launch;
};

class Contest {
  public:
    // `outputs`: files that are compared beside stdout. `directory`: exists. `prepare`: a shell line for before each run, or
    // nothing. `on_run` is called before each run.
    Contest(std::vector<std::string> outputs, std::string directory, std::string prepare,
            std::function<void(const Contestant&, size_t round)> on_run);

    size_t add(Contestant contestant); // its index; the base is 0

    // A run of the base that does not count but for what it does.
    void warm_up();
    // One more run each, of these in this order. After a failed preparation, a full disk or a signal the round ends, and
    // stopped() says why. Throws Error: one cannot be started.
    void round(const std::vector<size_t>& who);

    const Judge& judge() const { return judge_; }
    size_t rounds() const { return rounds_; } // so far
    Pairs pairs_of(size_t base, size_t other, size_t from_round = 0) const;
    std::optional<statistics::Spread> base_walls() const; // none: no run of the base
    const std::string& stopped() const { return stopped_; }
    double longest_s() const { return longest_s_; } // run so far

  private:
    TimedRun left_behind(const std::string& output) const;
    std::optional<TimedRun> take(const Contestant& contestant, size_t round);

    std::vector<std::string> outputs_;
    std::string directory_, prepare_, stopped_;
    std::function<void(const Contestant&, size_t)> on_run_;
    std::vector<Contestant> contestants_;
    std::vector<Rounds> runs_;
    Judge judge_;
    size_t rounds_ = 0;
    double longest_s_ = 0;
};

} // namespace plumb::trial
