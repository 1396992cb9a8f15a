// The program under the recorder: started so that it finds everything as if plumb were not there.
#pragma once

#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace plumb::record {

// What the target is to inherit although plumb changes it for itself.
struct Inheritance {
    sigset_t mask;
    struct sigaction child_signal; // SIGCHLD: ignored by plumb's parent would keep plumb from waiting
    rlimit files, locked_memory;   // plumb may raise its own limits
    static Inheritance now();
    void restore() const; // before exec; safe after fork
};

class Child {
  public:
    using Environment = std::map<std::string, std::string>; // laid over this process's own

    // Forks. The child waits until release(): what can be observed of it decides which environment it gets.
    // Throws Error when the system has no process left.
    Child(const std::vector<std::string>& command, const Environment& usual, const Environment& other,
          const Inheritance& inheritance);
    ~Child(); // a program that was not released yet never starts
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    pid_t pid() const { return pid_; }

    enum class Choice : char { usual = 1, other = 2 };

    // Lets it exec. Returns 0, or the errno of the failed exec (the child is gone then).
    int release(Choice choice);

  private:
    pid_t pid_ = -1;
    int gate_ = -1;   // a Choice written here opens it
    int result_ = -1; // the errno of a failed exec comes here; closed by a successful one
};

} // namespace plumb::record
