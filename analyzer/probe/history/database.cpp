#include "probe/history/database.h"

#include "support/error.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace plumb::probe {

namespace {
constexpr int kPatience_ms = 10'000; // for others that write
}

Database::Database(const std::string& path, bool create) : path_(path) {
    const int flags = create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    if (sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
        const std::string reason = handle_ ? sqlite3_errmsg(handle_) : "out of memory";
        sqlite3_close(handle_);
        throw Error(fmt::format("cannot open the history {}: {}; name another file with --history, or use --no-history",
                                path, reason));
    }
    sqlite3_busy_timeout(handle_, kPatience_ms);
}

Database::~Database() { sqlite3_close(handle_); }

void Database::execute(const std::string& sql) {
    if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        fail("use");
}

int64_t Database::last_row() const { return sqlite3_last_insert_rowid(handle_); }

void Database::fail(const char* what) const {
    throw Error(fmt::format("cannot {} the history {}: {}; name another file with --history, or use --no-history", what, path_,
                            sqlite3_errmsg(handle_)));
}

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
    check(sqlite3_prepare_v2(database.handle_, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr));
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::check(int result) {
    if (result != SQLITE_OK)
        database_.fail("use");
}

Statement& Statement::bind(int64_t value) {
    check(sqlite3_bind_int64(statement_, next_++, value));
    return *this;
}

Statement& Statement::bind(double value) {
    check(sqlite3_bind_double(statement_, next_++, value));
    return *this;
}

Statement& Statement::bind(const std::string& value) {
    check(sqlite3_bind_text(statement_, next_++, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT));
    return *this;
}

Statement& Statement::bind_null() {
    check(sqlite3_bind_null(statement_, next_++));
    return *this;
}

bool Statement::step() {
    const int result = sqlite3_step(statement_);
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        database_.fail("use");
    return result == SQLITE_ROW;
}

void Statement::reset() {
    check(sqlite3_reset(statement_));
    next_ = 1;
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }
bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

std::string Statement::text(int column) const {
    const unsigned char* const text = sqlite3_column_text(statement_, column);
    return text ? std::string(reinterpret_cast<const char*>(text)) : std::string();
}

} // namespace plumb::probe
