// The MPI library of the launcher that started this process, loaded when it is needed: plumb is linked with none, and the
// machine may have several. No header of any MPI is used: handles are words, of the form that the library's family has
// (as in the shim's record/mpi/library/library.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace plumb::team {

class MpiLibrary {
  public:
    using Handle = uintptr_t; // a pointer, or an integer in its lower half
    using GetVariable = const char* (*)(const char* name);

    // Loads the library that fits the launcher and initialises it. Null: `why_not` says why, in words; a process that has no
    // connection to its launcher is not initialised, since some libraries end it then.
    static std::unique_ptr<MpiLibrary> start(GetVariable variable, std::string& why_not);
    ~MpiLibrary(); // MPI_Finalize: waits for the others

    int rank() const { return rank_; }
    int size() const { return size_; }

    // To and from one process, in the order in which they are sent. A failure ends the job, as MPI does it.
    Handle begin_send(const void* bytes, size_t count, int to) const; // they stay until wait()
    void wait(Handle request) const;
    void receive(void* bytes, size_t count, int from) const;

    // The same for all processes: whether all gave the same number.
    bool is_same_everywhere(uint64_t number) const;

    [[noreturn]] void abort_job() const;

  private:
    MpiLibrary() = default;
    MpiLibrary(const MpiLibrary&) = delete;
    MpiLibrary& operator=(const MpiLibrary&) = delete;
    bool load(GetVariable variable, std::string& why_not);

    int (*send_)(const void*, int, Handle, int, int, Handle, Handle*) = nullptr;
    int (*wait_)(Handle*, void*) = nullptr;
    int (*receive_)(void*, int, Handle, int, int, Handle, void*) = nullptr;
    int (*all_gather_)(const void*, int, Handle, void*, int, Handle, Handle) = nullptr;
    int (*init_)(void*, void*, int, int*) = nullptr;
    int (*rank_of_)(Handle, int*) = nullptr;
    int (*size_of_)(Handle, int*) = nullptr;
    int (*finalize_)() = nullptr;
    int (*abort_)(Handle, int) = nullptr;
    Handle world_ = 0, byte_ = 0;
    void* ignored_status_ = nullptr;
    int rank_ = 0, size_ = 1;
    bool started_ = false;
};

} // namespace plumb::team
