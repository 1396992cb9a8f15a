// What the kernel wrote while a run was recorded, from the journal of this machine.
#pragma once

#include "model/run.h"

#include <string>
#include <sys/types.h>

namespace plumb {

class KernelJournal {
  public:
    // Starts journalctl. Throws Error: it is not there, or the run was of another machine.
    explicit KernelJournal(const model::Run& run);
    ~KernelJournal(); // waits for journalctl, which ends when nobody reads
    KernelJournal(const KernelJournal&) = delete;
    KernelJournal& operator=(const KernelJournal&) = delete;

    std::string path() const { return "/proc/self/fd/" + std::to_string(pipe_); } // to read, once

    // When everything was read. Throws Error: journalctl failed.
    void end();

  private:
    int pipe_ = -1;
    pid_t pid_ = -1;
};

} // namespace plumb
