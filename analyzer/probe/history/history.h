// The probes of machines at many dates, in one SQLite file: table probe, a row each, and table figure.
#pragma once

#include "probe/history/database.h"
#include "probe/judge/against.h"

#include <string>
#include <vector>

namespace plumb::probe {

// plumbline/probe.sqlite below $XDG_DATA_HOME or $HOME/.local/share; empty: neither is set.
std::string default_history_file();

class History {
  public:
    enum class Access { read, write };
    // `write` makes the file and its folders. Throws Error.
    History(const std::string& path, Access access);

    int64_t keep(const EarlierProbe& probe); // all of it or nothing; returns its id

    std::vector<EarlierProbe> list(); // by date, without figures

    // `which`: last, an id, or a date (2026-11-28, with 14:30 or 14:30:05 behind it): the latest at that time or before. By
    // last and by a date only probes of this host with this model and number of CPUs are found. Throws UsageError (it means
    // nothing) and Error (there is none).
    EarlierProbe find(const std::string& which, const EarlierProbe& machine);

  private:
    EarlierProbe read(const EarlierProbe& found);

    const std::string path_;
    Database database_;
};

// Seconds since 1970 of the end of that day, minute or second, in local time; negative: it is no date.
double end_of_date_s(const std::string& text);

} // namespace plumb::probe
