// What a user expects a cycle of an MPI job to take, by its number of ranks (plumb report --model FILE). The file is a table
//
//   # comment
//   ranks,seconds_per_cycle
//   2,4.1
//   8,1.2
//
// with or without that heading, or one line with a formula of `ranks` (formula.h): 0.1 + 8/ranks
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

class CycleModel {
  public:
    // Throw Error, naming the file, the line and what is wrong there.
    static CycleModel read(const std::string& path);
    static CycleModel parse(const std::string& text, const std::string& path);

    // Seconds a cycle. Between two rows of the table on a straight line between their logarithms, as T ~ ranks^x is one. Throws
    // Error where the table does not reach so far, and where the formula gives no positive number.
    double expected_s(uint64_t ranks) const;

    const std::string& path() const { return path_; }

  private:
    struct Row {
        uint64_t ranks = 0;
        double seconds = 0;
        size_t line = 0;
    };
    void add_row(const std::string& line, size_t number);
    void finish_table();
    double value_at(uint64_t ranks) const; // of the formula

    std::string path_;
    std::vector<Row> rows_; // by ranks
    std::string formula_;   // empty: there is a table
    size_t formula_line_ = 0;
};

} // namespace plumb
