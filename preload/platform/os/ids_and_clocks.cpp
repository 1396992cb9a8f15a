#include "platform/os/ids_and_clocks.h"

#include "platform/os/files.h"
#include "platform/os/system_call.h"
#include "platform/os/text.h"

#include <time.h>

namespace plumb::shim {
namespace {

uint64_t read_clock(clockid_t clock) {
    timespec time = {};
    clock_gettime(clock, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

// Of /proc/PID/stat; 0: not there.
uint64_t parse_stat_field(const char* text, int wanted) {
    const char* field = strrchr(text, ')'); // ends field 2
    for (int number = 2; field && number < wanted; ++number)
        if ((field = strchr(field, ' ')))
            ++field;
    return parse_number(field, 0);
}

uint64_t read_stat_field(const char* proc_root, int wanted) {
    Text<256> path;
    path << proc_root << "/self/stat";
    char text[1024];
    return read_whole_file(path.c_str(), text, sizeof text) > 0 ? parse_stat_field(text, wanted) : 0;
}

} // namespace

uint32_t process_id() { return static_cast<uint32_t>(system_call(SYS_getpid)); }
uint32_t parent_process_id() { return static_cast<uint32_t>(system_call(SYS_getppid)); }
uint32_t thread_id() { return static_cast<uint32_t>(system_call(SYS_gettid)); }

uint64_t parse_start_ticks(const char* text) { return parse_stat_field(text, 22); }
uint64_t process_start_ticks(const char* proc_root) { return read_stat_field(proc_root, 22); }
uint64_t process_thread_count(const char* proc_root) { return read_stat_field(proc_root, 20); }

uint64_t thread_cpu_ns() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
uint64_t process_cpu_ns() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }
uint64_t wall_clock_ns() { return read_clock(CLOCK_REALTIME); }

} // namespace plumb::shim
