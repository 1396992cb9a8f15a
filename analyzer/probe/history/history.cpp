#include "probe/history/history.h"

#include "support/error.h"

#include <charconv>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>

namespace plumb::probe {

namespace {

constexpr int kVersion = 1;
constexpr const char* kTables = R"(
CREATE TABLE IF NOT EXISTS probe(
  id INTEGER PRIMARY KEY, begin_s REAL NOT NULL, took_s REAL NOT NULL, rounds INTEGER NOT NULL, host TEXT NOT NULL,
  kernel TEXT NOT NULL, cpu_model TEXT NOT NULL, cpu_count INTEGER NOT NULL, memory_bytes INTEGER NOT NULL,
  cpu_list TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS figure(
  probe INTEGER NOT NULL REFERENCES probe(id) ON DELETE CASCADE, test TEXT NOT NULL, place TEXT NOT NULL, unit TEXT NOT NULL,
  count INTEGER NOT NULL, median REAL NOT NULL, low REAL, high REAL, least REAL NOT NULL, most REAL NOT NULL,
  PRIMARY KEY(probe, test, place)) WITHOUT ROWID;
)";

std::string prepared(const std::string& path, History::Access access) {
    std::error_code error;
    if (access == History::Access::write && std::filesystem::path(path).has_parent_path())
        std::filesystem::create_directories(std::filesystem::path(path).parent_path(),
                                            error); // what fails shows when it is opened
    return path;
}

Unit unit_of(const std::string& name) {
    for (const Unit unit : {Unit::seconds, Unit::bytes_per_s, Unit::hertz})
        if (name == name_of(unit))
            return unit;
    return Unit::ratio;
}

EarlierProbe row_of(const Statement& row) {
    return {.id = row.integer(0),
            .begin_s = row.real(1),
            .took_s = row.real(2),
            .rounds = static_cast<size_t>(row.integer(3)),
            .host = row.text(4),
            .kernel = row.text(5),
            .cpu_model = row.text(6),
            .cpus = row.text(9),
            .cpu_count = static_cast<int>(row.integer(7)),
            .memory_bytes = static_cast<uint64_t>(row.integer(8)),
            .figures = {}};
}

constexpr const char* kColumns =
    "SELECT id, begin_s, took_s, rounds, host, kernel, cpu_model, cpu_count, memory_bytes, cpu_list FROM probe";

} // namespace

std::string default_history_file() {
    if (const char* const data = std::getenv("XDG_DATA_HOME"); data && *data == '/')
        return std::string(data) + "/plumbline/probe.sqlite";
    if (const char* const home = std::getenv("HOME"); home && *home == '/')
        return std::string(home) + "/.local/share/plumbline/probe.sqlite";
    return {};
}

double end_of_date_s(const std::string& text) {
    for (const auto& [format, seconds] : {std::pair{"%Y-%m-%d %H:%M:%S", 1}, {"%Y-%m-%d %H:%M", 60}, {"%Y-%m-%d", 86400}}) {
        std::tm date{};
        const char* const end = strptime(text.c_str(), format, &date);
        if (!end || *end)
            continue;
        date.tm_isdst = -1;
        if (seconds == 86400)
            ++date.tm_mday; // a day may have 23 or 25 hours
        else
            date.tm_sec += seconds;
        return static_cast<double>(std::mktime(&date));
    }
    return -1;
}

History::History(const std::string& path, Access access)
    : path_(path), database_(prepared(path, access), access == Access::write) {
    int64_t version = 0;
    {
        Statement pragma(database_, "PRAGMA user_version");
        version = pragma.step() ? pragma.integer(0) : 0;
    }
    if (version > kVersion)
        throw Error(fmt::format("the history {} was written by a later version of plumb; name another file with --history",
                                path));
    if (access == Access::write) {
        database_.execute("BEGIN IMMEDIATE");
        database_.execute(kTables);
        database_.execute(fmt::format("PRAGMA user_version = {}", kVersion));
        database_.execute("COMMIT");
    }
}

int64_t History::keep(const EarlierProbe& probe) {
    database_.execute("BEGIN IMMEDIATE");
    Statement row(database_,
                  "INSERT INTO probe(begin_s, took_s, rounds, host, kernel, cpu_model, cpu_count, memory_bytes, cpu_list) "
                  "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
    row.bind(probe.begin_s).bind(probe.took_s).bind(static_cast<int64_t>(probe.rounds)).bind(probe.host).bind(probe.kernel);
    row.bind(probe.cpu_model)
        .bind(int64_t{probe.cpu_count})
        .bind(static_cast<int64_t>(probe.memory_bytes))
        .bind(probe.cpus)
        .step();
    const int64_t id = database_.last_row();
    Statement insert(database_, "INSERT INTO figure VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (const Figure& figure : probe.figures) {
        const statistics::Spread& spread = figure.spread;
        insert.bind(id).bind(figure.test).bind(figure.place).bind(std::string(name_of(figure.unit)));
        insert.bind(static_cast<int64_t>(spread.count)).bind(spread.median);
        if (spread.is_known)
            insert.bind(spread.low).bind(spread.high);
        else
            insert.bind_null().bind_null();
        insert.bind(spread.least).bind(spread.most).step();
        insert.reset();
    }
    database_.execute("COMMIT");
    return id;
}

std::vector<EarlierProbe> History::list() {
    std::vector<EarlierProbe> probes;
    Statement rows(database_, fmt::format("{} ORDER BY begin_s, id", kColumns));
    while (rows.step())
        probes.push_back(row_of(rows));
    return probes;
}

EarlierProbe History::read(const EarlierProbe& found) {
    EarlierProbe probe = found;
    Statement rows(database_, "SELECT test, place, unit, count, median, low, high, least, most FROM figure WHERE probe = ?");
    rows.bind(probe.id);
    while (rows.step()) {
        Figure figure{rows.text(0), rows.text(1), unit_of(rows.text(2)), {}};
        figure.spread.count = static_cast<size_t>(rows.integer(3));
        figure.spread.median = rows.real(4);
        figure.spread.is_known = !rows.is_null(5) && !rows.is_null(6);
        figure.spread.low = rows.real(5);
        figure.spread.high = rows.real(6);
        figure.spread.least = rows.real(7);
        figure.spread.most = rows.real(8);
        probe.figures.push_back(std::move(figure));
    }
    return probe;
}

EarlierProbe History::find(const std::string& which, const EarlierProbe& machine) {
    int64_t id = 0;
    const auto [end, error] = std::from_chars(which.data(), which.data() + which.size(), id);
    if (error == std::errc() && end == which.data() + which.size()) {
        Statement row(database_, fmt::format("{} WHERE id = ?", kColumns));
        if (row.bind(id).step())
            return read(row_of(row));
        throw Error(fmt::format("the history {} has no probe {}; plumb probe --list prints those that it has", path_, id));
    }
    const double until_s = which == "last" ? 1e18 : end_of_date_s(which);
    if (until_s < 0)
        throw UsageError(fmt::format("--against {}: last, the number of a probe, or a date as 2026-11-28 or "
                                     "\"2026-11-28 14:30\" is needed", which));
    Statement row(database_, fmt::format("{} WHERE host = ? AND cpu_model = ? AND cpu_count = ? AND begin_s < ? "
                                         "ORDER BY begin_s DESC, id DESC LIMIT 1", kColumns));
    row.bind(machine.host).bind(machine.cpu_model).bind(int64_t{machine.cpu_count}).bind(until_s);
    if (row.step())
        return read(row_of(row));
    throw Error(fmt::format("the history {} has no probe of this machine{}; plumb probe --list prints those that it has", path_,
                            which == "last" ? std::string() : fmt::format(" until {}", which)));
}

} // namespace plumb::probe
