#include "symbols/elf/debuginfod.h"

#ifdef PLUMB_HAVE_DEBUGINFOD
#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <unistd.h>
#endif

namespace plumb::symbols {

#ifdef PLUMB_HAVE_DEBUGINFOD

namespace {

size_t requests = 0;

class Client {
  public:
    static Client& instance() {
        static Client client;
        return client;
    }

    std::string fetch(const std::string& build_id) {
        if (!handle_)
            return {};
        ++requests;
        char* path = nullptr;
        // Length 0: the id is text.
        const int fd =
            find_(handle_, reinterpret_cast<const unsigned char*>(build_id.c_str()), 0, &path);
        std::string result;
        if (fd >= 0) {
            result = path ? path : "";
            close(fd);
        } else if (fd != -ENOENT) {
            end_(handle_); // unreachable: do not make the user wait once for each library
            handle_ = nullptr;
        }
        std::free(path);
        return result;
    }

  private:
    Client() {
        // The library's own patience of 90 s a server is for debuggers; a report must not look hung.
        setenv(DEBUGINFOD_TIMEOUT_ENV_VAR, "10", 0);
        void* library = dlopen(DEBUGINFOD_SONAME, RTLD_LAZY | RTLD_LOCAL);
        if (!library)
            return;
        auto begin = reinterpret_cast<decltype(&debuginfod_begin)>(dlsym(library, "debuginfod_begin"));
        find_ = reinterpret_cast<decltype(find_)>(dlsym(library, "debuginfod_find_debuginfo"));
        end_ = reinterpret_cast<decltype(end_)>(dlsym(library, "debuginfod_end"));
        if (begin && find_ && end_)
            handle_ = begin();
    }
    ~Client() {
        if (handle_)
            end_(handle_);
    }

    debuginfod_client* handle_ = nullptr;
    decltype(&debuginfod_find_debuginfo) find_ = nullptr;
    decltype(&debuginfod_end) end_ = nullptr;
};

} // namespace

bool debuginfod_configured() {
    const char* urls = std::getenv(DEBUGINFOD_URLS_ENV_VAR);
    return urls && *urls;
}

std::string debuginfod_servers() {
    const char* urls = std::getenv(DEBUGINFOD_URLS_ENV_VAR);
    return urls ? urls : "";
}

size_t debuginfod_requests() { return requests; }

std::string fetch_debug_file(const std::string& build_id) {
    return debuginfod_configured() && !build_id.empty() ? Client::instance().fetch(build_id) : std::string();
}

#else

bool debuginfod_configured() { return false; }
std::string debuginfod_servers() { return {}; }
size_t debuginfod_requests() { return 0; }
std::string fetch_debug_file(const std::string&) { return {}; }

#endif

} // namespace plumb::symbols
