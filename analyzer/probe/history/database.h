// An SQLite file. Everything that goes wrong with it is an Error with a sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace plumb::probe {

class Database {
  public:
    // Throws Error when it cannot be opened, or made where `create`.
    Database(const std::string& path, bool create);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    void execute(const std::string& sql);
    int64_t last_row() const;
    [[noreturn]] void fail(const char* what) const; // with SQLite's reason

  private:
    friend class Statement;
    const std::string path_;
    sqlite3* handle_ = nullptr;
};

class Statement {
  public:
    Statement(Database& database, std::string_view sql);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    // The parameters in their order.
    Statement& bind(int64_t value);
    Statement& bind(double value);
    Statement& bind(const std::string& value);
    Statement& bind_null();

    bool step(); // false: there is no further row
    void reset(); // to run again with other parameters

    int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;
    bool is_null(int column) const;

  private:
    void check(int result);

    Database& database_;
    sqlite3_stmt* statement_ = nullptr;
    int next_ = 1;
};

} // namespace plumb::probe
