// What stands on the lines of a run's program, where its source is here as it was built.
#pragma once

#include "analyses/lines/source_files.h"
#include "analysis/report.h"
#include "compare/compared_place.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace plumb {

// Without white space at both ends, and one blank for any inside.
std::string folded_line(const std::string& line);

class SourceLines {
  public:
    // `given`: folders whose files the user named as those of the build; any other file must not be newer than the program.
    SourceLines(const Report& report, std::vector<std::string> given);

    ComparedPlace place_of(const model::SourceFrame& frame);

    // By file without its folders: every text that its lines have, of the files whose lines were asked for and are here.
    const std::map<std::string, std::set<std::string>>& texts() const { return texts_; }

  private:
    const std::string& why_unusable(const std::string& file, const std::string& module);

    const model::Run& run_;
    SourceFiles files_;
    std::vector<std::string> given_;
    std::map<std::pair<std::string, std::string>, std::string> unusable_; // by file and module; empty: it is usable
    std::map<std::string, std::set<std::string>> texts_;
};

} // namespace plumb
