// The program from the fork of its process to its end, and the signals that reach it meanwhile.
#pragma once

#include "record/run/child.h"
#include "record/run/signals.h"

#include <functional>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

namespace plumb::record {

class WatchedProgram {
  public:
    // From here on a limit of the file size is an error, not a deadly signal.
    explicit WatchedProgram(const Inheritance& inheritance) : inheritance_(inheritance) {}

    // Forks; it becomes the program when it is released, with one of the two environments.
    void create(const std::vector<std::string>& command, const Child::Environment& usual, const Child::Environment& other);
    void drop() { child_.reset(); } // a program that was not released yet never starts

    // Throws Error with the exit status of shells when `name` cannot be executed.
    void release(Child::Choice choice, const std::string& name);

    pid_t pid() const { return child_->pid(); }

    int signals_fd() const { return signals_.fd(); } // for poll: readable when something came
    // Sends on what came. True if a child changed its state: then reap().
    bool forward_signals() { return signals_.forward_to(child_->pid(), stop_watcher_); }

    // True when the program has ended. `before_end` runs while it is a zombie, whose last counts can still be read;
    // `before_stop` before plumb stops as the program did.
    bool reap(const std::function<void()>& before_end, const std::function<void()>& before_stop);

    // Returns when it has ended. Nothing that can fail is done any more.
    void wait_for_end() noexcept;

    int wait_status() const { return wait_status_; } // of its end
    const rusage& usage() const { return usage_; }

  private:
    void collect(const std::function<void()>& before_stop);

    const Inheritance inheritance_;
    SignalForwarder signals_;
    std::optional<Child> child_;
    pid_t stop_watcher_ = 0;
    bool has_ended_ = false; // and wait_status_ says how
    int wait_status_ = 0;
    rusage usage_{};
};

} // namespace plumb::record
