// The one exception of the analyzer. Its text is for users: what was tried, what came back, what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace plumb {

class Error : public std::runtime_error {
  public:
    explicit Error(const std::string& text, int exit_status = 125)
        : std::runtime_error(text), exit_status_(exit_status) {}
    int exit_status() const { return exit_status_; }

  private:
    int exit_status_;
};

} // namespace plumb
