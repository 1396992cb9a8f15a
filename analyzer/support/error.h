// The one exception of the analyzer. Its text is for users: what was tried, what came back, what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace plumb {

class Error : public std::runtime_error {
  public:
    static constexpr int kToolFailed = 125;
    explicit Error(const std::string& text, int exit_status = kToolFailed)
        : std::runtime_error(text), exit_status_(exit_status) {}
    int exit_status() const { return exit_status_; }

  private:
    int exit_status_;
};

// What the user asked for cannot be meant: said before anything is started.
class UsageError : public Error {
  public:
    using Error::Error;
};

} // namespace plumb
