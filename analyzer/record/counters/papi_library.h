// PAPI behind dlopen: nothing is linked, and nothing is loaded until somebody asks for it.
#pragma once

#include <papi.h> // types and constants alone
#include <string>

namespace plumb::record {

// What is used of the library.
#define PLUMB_PAPI_FUNCTIONS(X)                                                                                                  \
    X(PAPI_library_init)                                                                                                         \
    X(PAPI_strerror)                                                                                                             \
    X(PAPI_create_eventset)                                                                                                      \
    X(PAPI_assign_eventset_component)                                                                                            \
    X(PAPI_set_opt)                                                                                                              \
    X(PAPI_attach)                                                                                                               \
    X(PAPI_add_named_event)                                                                                                      \
    X(PAPI_start)                                                                                                                \
    X(PAPI_read)                                                                                                                 \
    X(PAPI_stop)                                                                                                                 \
    X(PAPI_cleanup_eventset)                                                                                                     \
    X(PAPI_destroy_eventset)

class PapiLibrary {
  public:
    // Loads and initialises it: 5 to 10 ms. On failure works() is false.
    PapiLibrary();
    PapiLibrary(const PapiLibrary&) = delete; // it stays loaded: PAPI_shutdown would end the counting of others in the process
    PapiLibrary& operator=(const PapiLibrary&) = delete;

    bool works() const { return why_.empty(); }
    const std::string& why() const { return why_; } // what was tried and what came back
    bool is_missing() const { return is_missing_; } // there is no such library, else it does not work
    std::string version() const;                    // "7.0"
    // Its file, with size and date: what was found out about one library is not true of another.
    std::string identity() const;

#define PLUMB_DECLARE(function) decltype(&::function) function = nullptr;
    PLUMB_PAPI_FUNCTIONS(PLUMB_DECLARE)
#undef PLUMB_DECLARE

  private:
    bool find_functions(void* library);
    std::string why_;
    bool is_missing_ = false;
    int version_ = 0;
};

} // namespace plumb::record
