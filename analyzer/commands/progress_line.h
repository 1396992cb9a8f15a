// One line on a terminal that is written over, for who waits; nothing where stderr is none.
#pragma once

#include <string>

namespace plumb {

class ProgressLine {
  public:
    ProgressLine();
    void show(const std::string& words) const; // empty: the line is cleared

  private:
    bool is_terminal_;
};

} // namespace plumb
