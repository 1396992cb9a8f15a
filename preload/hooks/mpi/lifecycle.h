// The calls that begin and end MPI in a process. In one of them the library may call another (Fortran's MPI_INIT the
// C function), and each is to be reported once: by the outermost.
#pragma once

#include "hooks/mpi/hook.h"

namespace plumb::shim::mpi {

class LifeCall {
  public:
    LifeCall() { ++depth_; }
    ~LifeCall() { --depth_; }
    LifeCall(const LifeCall&) = delete;
    LifeCall& operator=(const LifeCall&) = delete;

    void will_start() const; // MPI_Init, MPI_Init_thread, MPI_Session_init
    void started(bool session) const;
    void will_end() const; // MPI_Finalize, MPI_Session_finalize
    void ended() const;
    void aborted() const;
    void controlled(int level) const;

  private:
    bool outermost() const { return depth_ == 1; }

    static __thread int depth_ __attribute__((tls_model("initial-exec"))) PLUMB_HIDDEN;
};

} // namespace plumb::shim::mpi
