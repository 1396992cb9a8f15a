// Which places in the code of two sets of runs are the same.
//
// In runs of one build: function, file and number of the line. In runs of different builds, where the source of each is
// here: function, file and text of the line, and which of the function's lines with this text it is. If of a function each
// side has exactly one place with a text that the other side's file has nowhere, the line was changed, and they are the same
// as well. Without the sources: by number.
#pragma once

#include "compare/run_figures.h"

#include <map>
#include <string>
#include <vector>

namespace plumb {

class PlaceMatch {
  public:
    PlaceMatch(const std::vector<RunFigures>& base, const std::vector<RunFigures>& other);

    std::string key_of(const ComparedPlace& place) const;  // the same for all that are the same
    std::string name_of(const ComparedPlace& place) const; // "scaled at work.c:31", "scaled at work.c:31 -> 33" where it moved

    // Files whose lines are matched by number though the builds differ, a sentence each.
    const std::vector<std::string>& notes() const { return notes_; }

  private:
    struct Lines { // of one key
        uint32_t base = 0, other = 0;
    };
    enum class By { number, text };

    void decide(const std::vector<RunFigures>& base, const std::vector<RunFigures>& other);
    void pair_changed_lines(const std::vector<RunFigures>& base, const std::vector<RunFigures>& other);
    std::string own_key(const ComparedPlace& place) const; // before changed lines are paired

    std::map<std::string, By> by_file_;
    std::map<std::string, Lines> lines_;          // by key
    std::map<std::string, std::string> changed_;  // key in the others -> key in the base
    std::vector<std::string> notes_;
};

} // namespace plumb
